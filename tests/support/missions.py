"""Missions over a clock that can be moved, with planners that follow a script."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from core.bootstrap import Core
from core.companion.act.act import open_act
from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.draft import MissionDraft
from core.companion.act.missions.mission import Iteration, Mission
from core.companion.act.missions.missions import Missions
from core.companion.act.missions.opening import open_missions
from core.companion.act.missions.plan import Plan, PlannedStep
from core.companion.act.missions.rule_plans import RulePlanner
from core.companion.act.missions.situation import Planned, Planner, Situation
from core.companion.contract import Module, ModuleTool, Parameter, Section, ToolResult
from core.events.actor import LOCAL_OPERATOR, Actor, current_actor
from tests.support.companion import Office
from tests.support.snapshots import row as snapshot
from tests.support.snapshots import upstream

MONDAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
TITLE = Parameter("title", "string", "What it is called.", required=True)


class Scripted:
    """A planner that gives its next plan, or raises, or calls what stands in its script; then nothing is left to do."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.seen: list[Situation] = []

    def plan(self, situation: Situation) -> Planned:
        self.seen.append(situation)
        situation.at("calling-llm")
        step = self.script.pop(0) if self.script else Plan("")
        if callable(step):
            step = step(situation)
        if isinstance(step, BaseException):
            raise step
        situation.at("parsing-response")
        return Planned(step, "server")


class Field:
    """The product's own modules and one of small tools: look (auto), shelve (propose), once (propose, once a plan),
    burn (deny), fail (auto, fails)."""

    def __init__(self, core: Core, at: datetime = MONDAY) -> None:
        self.core = core
        self.office = Office(core, at)
        self.clock = self.office.clock
        self.runs: list[tuple[str, Mapping[str, Any], Actor | None]] = []
        tools = (
            self._tool("look", "auto", read_only=True),
            self._tool("fail", "auto", read_only=True),
            self._tool("shelve", "propose", (TITLE,)),
            self._tool("once", "propose", (TITLE,), once_per_plan=True),
            self._tool("burn", "deny", (TITLE,)),
        )
        bench = Module("bench", "Bench", "personal", (), Section(lambda day: {}, {}), tools)
        self.modules = (*core.companion.modules, bench)
        known = [*self.office.modules.values(), *(m for m in self.modules if m.name not in self.office.modules)]
        self.act = open_act(core.db, core.events, self.clock, core.companion.settings, known)
        self.deps = replace(self.office.desk.deps, events=core.events)

    def missions(self, planner: Planner | None = None) -> Missions:
        """The missions of one process."""
        planners = {"rules": RulePlanner(), "llm": planner or Scripted()}
        companion = self.core.companion
        return open_missions(
            self.deps, companion.records, self.act, companion.router, companion.reflection, planners=planners
        )

    def with_model(self) -> Missions:
        """Planned by whatever the router of `core` reaches."""
        companion = self.core.companion
        return open_missions(self.deps, companion.records, self.act, companion.router, companion.reflection)

    def later(self, **delta: float) -> None:
        self.clock.at += timedelta(**delta)

    def _tool(self, name: str, policy: Any, parameters: tuple[Parameter, ...] = (), **more: Any) -> ModuleTool:
        def execute(params: Mapping[str, Any]) -> ToolResult:
            self.runs.append((name, params, current_actor()))
            if name == "fail":
                raise RuntimeError("row of ru-4711")
            return ToolResult(True, f"{name}: done.", {"text": "full"}, {"n": 1})

        return ModuleTool(name, "bench", name.title(), f"To {name}.", execute, "usage", policy, "personal", parameters,
                          **more)  # fmt: skip


def draft(**changes: Any) -> MissionDraft:
    """A mission that a model plans, by hand, unless said otherwise."""
    given = MissionDraft(str(uuid.uuid4()), "Keep the shelf tidy", "Shelve what lies about.", planner="llm")
    return replace(given, **changes)


def make(missions: Missions, **changes: Any) -> Mission:
    """Saved, as it is stored."""
    wanted = draft(**changes)
    missions.save(LOCAL_OPERATOR, wanted)
    return missions.get(wanted.id)


def weekly(**changes: Any) -> dict[str, Any]:
    """A clean-up by rules, Mondays at nine."""
    cadence = Cadence("weekly", hour=9, weekday=0)
    return {"planner": "rules", "template": "weekly_cleanup", "cadence": cadence, "title": "Clean-up", **changes}


def plan(*tools: str | tuple[str, Mapping[str, Any]], summary: str = "Tidies.") -> Plan:
    steps = [
        (one, {"title": "t"} if one in ("shelve", "once") else {}) if isinstance(one, str) else one for one in tools
    ]
    return Plan(summary, tuple(PlannedStep(f"To {name}", name, params, f"Why {name}.") for name, params in steps))


def last(missions: Missions, mission: Mission) -> Iteration:
    return missions.iterations(mission.id).rows[0]


def expire(dsn: str, at: datetime, many: int = 3) -> None:
    """So many snapshots that were expired a day before `at`."""
    gone = (at - timedelta(days=1)).isoformat()
    rows = [snapshot(day="2026-11-01", source_id=f"n{n}", expires_at=gone) for n in range(many)]
    with psycopg.connect(dsn, autocommit=True) as db:
        upstream(db, *rows)


def statuses(missions: Missions, mission: Mission) -> list[str]:
    """Of all runs, newest first."""
    return [one.status for one in missions.iterations(mission.id).rows]
