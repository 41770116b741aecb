"""The room of the routines, joined. Connects to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.act.act import Act
from core.companion.contract import Module, ToolResult
from core.companion.converse.llm.router import Router
from core.companion.converse.rituals.composer import parts_in_use
from core.companion.converse.rituals.generation import Generator
from core.companion.converse.rituals.rituals import Rituals
from core.companion.converse.rituals.runner import Runner
from core.companion.converse.rituals.sources import Now
from core.companion.converse.rituals.store import RitualStore
from core.companion.reflect.opening import Reflection
from core.db.client import Database
from core.errors import CoreError
from core.events.actor import Actor
from core.events.emitter import Events


@dataclass(frozen=True)
class Routines:
    """One per process, thread-safe."""

    rituals: Rituals
    runner: Runner
    generator: Generator
    reflection: Reflection

    def now(self) -> Now:
        """What info steps show; a part that cannot be read now is missing, and never an error."""
        sources = self.reflection.sources
        now: datetime = self.reflection.clock.now().astimezone(self.reflection.zone)
        return Now(now, sources.day(now.date()), _or_none(sources.streaks), _or_none(sources.goals))


def open_routines(
    db: Database,
    events: Events,
    clock: Clock,
    zone: ZoneInfo,
    modules: tuple[Module, ...],
    act: Act,
    router: Router,
    reflection: Reflection,
) -> Routines:
    store = RitualStore(db, events, clock, zone)
    find = act.toolbox.find
    empty = {module.name: module.section.empty for module in modules}

    def call(name: str, params: Mapping[str, Any], actor: Actor) -> ToolResult:
        return act.executor.call(name, params, actor=actor)

    def in_use() -> tuple[str, ...]:
        return parts_in_use(reflection.sources.day(clock.now().astimezone(zone).date()), empty)

    return Routines(
        rituals=Rituals(store, events, find),
        runner=Runner(store, events, find, call),
        generator=Generator(
            router.complete, act.toolbox.all(), find, in_use, lambda: _or_none(reflection.sources.goals) or ()
        ),
        reflection=reflection,
    )


def _or_none(ask: Any) -> Any:
    try:
        return ask()
    except CoreError:
        return None
