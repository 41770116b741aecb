"""A small module to count, and a core's companion parts with a clock that a test moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.contract import (
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    Rule,
    Section,
    StreakDef,
)
from core.companion.reflect.goals.goals import Goals
from core.companion.reflect.goals.store import GoalStore
from core.events.emitter import Events
from core.events.event import Event
from core.events.spool import Spool

KYIV = ZoneInfo("Europe/Kyiv")
NOON = datetime(2026, 11, 25, 10, 0, tzinfo=UTC)  # a Wednesday, noon in Kyiv

WATER = GoalMetric("event_count", ("DrinkLogged",), ("DrinkEntryUndone",), "drink_type", "water")
TASKS = GoalMetric("event_count", ("TaskCompleted",), ("TaskUncompleted",))
CALORIES = GoalMetric("event_sum", ("MealLogged",), ("MealDeleted",), sum_field="calories")
VISITS = GoalMetric("event_count", ("PlaceVisited",), distinct_field="place_id")


def small_module(
    *,
    rules: Sequence[Rule] = (),
    extractors: Sequence[Extractor] = (),
    overdue: Mapping[date, float] | None = None,
) -> Module:
    """One module with everything that goals, rules and facts need."""
    return Module(
        name="todo",
        label="Todo",
        content_class="personal",
        events=("TaskCompleted",),
        section=Section(build=lambda _: {"open": 1}, empty={"open": 0}),
        streaks=(StreakDef("tasks", "todo", "Tasks done", Measure(("TaskCompleted",))),),
        metrics=(
            MetricDef("todo.overdue", "todo", "Overdue tasks", "tasks", daily=lambda first, last: dict(overdue or {})),
        ),
        goal_templates=(
            GoalTemplate("tasks-5", "Five tasks a day", "todo", TASKS, GoalTarget(5, "day")),
            GoalTemplate("water-8", "Eight glasses of water", "drink", WATER, GoalTarget(8, "day")),
            GoalTemplate(
                "overdue-0",
                "No overdue task",
                "todo",
                GoalMetric("custom", name="todo.overdue"),
                GoalTarget(0, "day", "eq"),
            ),
        ),
        rules=tuple(rules),
        extractors=tuple(extractors),
    )


@dataclass
class Desk:
    """Goals on a real database, with a clock and a zone of the test."""

    core: Core
    clock: FixedClock
    events: Events
    goals: Goals

    def happened(self, type: str, at: datetime | None = None, **payload: Any) -> Event:
        """An event of that moment, counted, as if the bus had delivered it."""
        if at is not None:
            self.clock.at = at
        event = self.events.prepare(type, payload)
        self.goals.store.increment(event)
        return event

    def stored(self, type: str) -> list[Mapping[str, Any]]:
        """Payloads of the stored events of a type, oldest first."""
        self.events.flush()
        return [row.payload for row in reversed(self.events.store.query(type=type).rows)]


def own_events(core: Core, clock: FixedClock) -> Events:
    """Events of that clock, with a spool of their own: what two drains share, one may still be writing."""
    return Events(core.events.store, Spool(core.settings.data_dir / "spool-of-a-test"), clock)


def desk(core: Core, *, at: datetime = NOON, zone: ZoneInfo = KYIV, module: Module | None = None, **named: Any) -> Desk:
    clock = FixedClock(at)
    events = own_events(core, clock)
    goals = Goals(GoalStore(core.db, events, clock, zone), events, (module or small_module(),), **named)
    return Desk(core, clock, events, goals)
