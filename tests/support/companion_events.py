"""Events put into the store as they were at some moment, and a small module over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import Measure, Module, Section, StreakDef
from core.companion.reflect.streaks import Streaks
from core.db.client import Database
from core.events.emitter import Events, open_events
from core.events.event import Event
from core.local.server import Endpoint

WATER = Measure(
    ("DrinkLogged",),
    "sum",
    "quantity_ml",
    where={"drink_type": "water"},
    minus=("DrinkEntryUndone",),
    day_field="date",
)
TASKS = Measure(("TaskCompleted",), minus=("TaskUncompleted",))
MEALS = Measure(("MealLogged", "MealFromPhotoLogged"), minus=("MealDeleted",), day_field="date")

WATER_STREAK = StreakDef("water", "drink", "Water goal", WATER, threshold=2000.0)
TASK_STREAK = StreakDef("tasks", "todo", "Tasks done", TASKS)
STRICT_STREAK = StreakDef("strict", "todo", "Tasks done, no day off", TASKS, grace=0)


@contextmanager
def store(endpoint: Endpoint, folder: Path, clock: Clock) -> Iterator[tuple[Database, Events]]:
    """A database and its events, without the rest of the core."""
    db = Database(endpoint.url, endpoint.service_role_key)
    events = open_events(db, folder, clock)
    try:
        yield db, events
    finally:
        events.close()
        db.close()


def at(events: Events, when: datetime, type: str, payload: Mapping[str, Any] | None = None) -> Event:
    """An event of that moment; not stored yet."""
    event = events.prepare(type, payload or {})
    return replace(event, meta=replace(event.meta, timestamp=when))


def put(events: Events, *happened: Event) -> None:
    """Store them in this order, as another process would have: nobody here is told."""
    events.store.append([event.row() for event in happened])


def water(events: Events, when: datetime, ml: float, day: date | None = None, kind: str = "water") -> Event:
    return at(events, when, "DrinkLogged", {"drink_type": kind, "quantity_ml": ml, "date": day or when.date()})


def task(events: Events, when: datetime) -> Event:
    return at(events, when, "TaskCompleted", {"task_id": "t"})


def streaks_of(db: Database, events: Events, clock: Clock, *definitions: StreakDef, zone: str = "UTC") -> Streaks:
    return Streaks(db, events, clock, ZoneInfo(zone), definitions)


def module(
    name: str,
    build: Callable[[date], Mapping[str, Any]],
    *,
    empty: Mapping[str, Any] | None = None,
    stale_after: Sequence[str] = (),
) -> Module:
    return Module(name, name.title(), "public", (), Section(build, empty or {"n": 0}, tuple(stale_after)))
