"""Modules over a clock that stands still, contexts of rules, and an AI that asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.act.act import Act, open_act
from core.companion.contract import Module, Rule, RuleContext
from core.companion.modules.desk import Desk
from core.companion.modules.ops import ops_modules
from core.events.actor import Actor, ai
from core.events.event import Event
from core.services.snapshots import SnapshotService

UTC_ZONE = ZoneInfo("UTC")


class Office:
    """The modules of the product's own parts on the store of `core`, at a moment that can be moved."""

    def __init__(self, core: Core, at: datetime) -> None:
        self.core = core
        self.clock = FixedClock(at)
        snapshots = SnapshotService(core.db, core.events, self.clock, embedded=True)
        deps = replace(core.companion.deps, clock=self.clock, zone=UTC_ZONE, snapshots=snapshots)
        self.desk = Desk(deps, core.companion.settings)
        self.modules: Mapping[str, Module] = {m.name: m for m in ops_modules(self.desk)}
        self.act: Act = open_act(core.db, core.events, self.clock, core.companion.settings, self.modules.values())

    def call(self, name: str, /, actor: Actor | None = None, **params: Any) -> Any:
        return self.act.executor.call(name, params, actor=actor)

    def day(self) -> dict[str, Mapping[str, Any]]:
        """Every section of today."""
        return {name: m.section.build(self.desk.today()) for name, m in self.modules.items()}

    def rule(self, id: str) -> Rule:
        return next(rule for module in self.modules.values() for rule in module.rules if rule.id == id)

    def context(self, event: Event | None = None, *, at: datetime | None = None) -> RuleContext:
        return RuleContext(now=at or self.desk.now(), zone=UTC_ZONE, day=self.day(), event=event)


def day_of(**sections: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Empty sections of the four modules, with some fields another."""
    from core.companion.modules import health, memory, snapshots, usage

    empty = {"memory": memory.EMPTY, "snapshots": snapshots.EMPTY, "usage": usage.EMPTY, "health": health.EMPTY}
    return {name: {**fields, **sections.get(name, {})} for name, fields in empty.items()}


def agent(mission: str = "mission-1", iteration: str = "iteration-1") -> Actor:
    return ai("planner", "Planner", mission_id=mission, iteration_id=iteration, rationale="It is full.")
