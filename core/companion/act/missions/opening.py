"""The missions of this process: store, sources, planners and runner, joined."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.companion.act.act import Act
from core.companion.act.missions.inputs import Sources
from core.companion.act.missions.llm_planner import LlmPlanner
from core.companion.act.missions.missions import Missions
from core.companion.act.missions.rule_plans import RulePlanner
from core.companion.act.missions.runner import Runner
from core.companion.act.missions.situation import Planner
from core.companion.act.missions.sources import sources
from core.companion.act.missions.store import MissionStore
from core.companion.converse.llm.router import Router
from core.companion.records.records import Records
from core.companion.reflect.opening import Reflection

if TYPE_CHECKING:
    from core.companion.deps import Deps


def open_missions(
    deps: Deps,
    records: Records,
    act: Act,
    router: Router,
    mind: Reflection,
    planners: Mapping[str, Planner] | None = None,
) -> Missions:
    """Connects to nothing; threads start with the first run."""
    stopping = threading.Event()
    store, known = MissionStore(deps.db), Sources(sources(deps, records, mind))
    runner = Runner(
        store,
        act,
        planners or {"rules": RulePlanner(), "llm": LlmPlanner(router)},
        known,
        deps.events,
        deps.clock,
        deps.zone,
        tokens=lambda mission, since: router.runs.tokens(since, mission_id=mission),
        stopping=stopping.is_set,
    )
    return Missions(store, runner, known, deps.events, deps.clock, deps.zone, stopping)
