"""Correlations as they are computed from events and kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from core.clock import FixedClock
from core.companion.contract import Measure, MetricDef
from core.companion.reflect.correlations import Correlations
from core.companion.reflect.measures import Measures
from core.db.client import Database
from core.events.emitter import Events
from core.local.server import Endpoint
from tests.support.companion_events import TASKS, at, put, store, task, water

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
COFFEE = Measure(("DrinkLogged",), where={"drink_type": "coffee"}, day_field="date")
METRICS = (
    MetricDef("todo.done", "todo", "Tasks done", "", TASKS),
    MetricDef("drink.coffee", "drink", "Coffee", "", COFFEE),
)


@pytest.fixture
def desk(endpoint: Endpoint, tmp_path: Path) -> Iterator[tuple[Database, Events]]:
    with store(endpoint, tmp_path, FixedClock(NOON)) as both:
        yield both


def correlations(db: Database, clock: FixedClock, *metrics: MetricDef) -> Correlations:
    zone = ZoneInfo("UTC")
    return Correlations(db, clock, zone, Measures(db, zone), metrics or METRICS)


def days_with(events: Events, days: int) -> None:
    """As many tasks as cups, up to yesterday; and a hundred tasks today, which is not over."""
    happened = [task(events, NOON) for _ in range(100)]
    for n in range(1, days + 1):
        when = NOON - timedelta(days=n)
        for _ in range(1 + n % 4):
            happened += [task(events, when), water(events, when, 200, kind="coffee")]
    put(events, *happened)


def test_computed_kept_and_shown(desk: tuple[Database, Events]) -> None:
    """Strongest first, with its days; computed again it stays one row, and when it was first shown stays."""
    db, events = desk
    days_with(events, 20)
    clock = FixedClock(NOON)
    ours = correlations(db, clock)
    assert ours.compute() == {"found": 1, "metrics": 2, "failed": 0}
    [pair] = ours.all()
    assert (pair.id, pair.coefficient, pair.sample_size) == ("corr:drink.coffee:todo.done", 1.0, 20)
    assert pair.computed_at == NOON and pair.shown_at is None
    scatter = ours.scatter(pair)
    assert scatter is not None and scatter.days[-1] == date(2026, 11, 29) and len(scatter.a) == len(scatter.b) == 20
    ours.mark_shown(pair.id)
    clock.at += timedelta(hours=1)
    ours.mark_shown(pair.id)
    ours.compute()
    assert [p.shown_at for p in ours.all()] == [NOON]


def test_what_no_longer_holds_goes(desk: tuple[Database, Events]) -> None:
    """Without its metric there is nothing to draw either."""
    db, events = desk
    days_with(events, 20)
    clock = FixedClock(NOON)
    ours = correlations(db, clock)
    ours.compute()
    [pair] = ours.all()
    less = correlations(db, clock, METRICS[0])
    assert less.scatter(pair) is None
    assert less.compute()["found"] == 0 and less.all() == ()


def test_a_metric_that_fails_is_left_out(desk: tuple[Database, Events]) -> None:
    """Figures that no event tells are asked of their module."""
    db, events = desk
    days_with(events, 20)

    def broken(first: date, last: date) -> dict[date, float]:
        raise RuntimeError("away")

    def hours(first: date, last: date) -> dict[date, float]:
        return {date(2026, 11, 30) - timedelta(days=n): 1.0 + n % 4 for n in range(21)}

    given = (
        METRICS[0],
        MetricDef("calendar.hours", "calendar", "Meeting hours", "h", daily=hours),
        MetricDef("x.y", "x", "X", "", daily=broken),
    )
    ours = correlations(db, FixedClock(NOON), *given)
    assert ours.compute() == {"found": 1, "metrics": 2, "failed": 1}


def test_few_events_give_none(desk: tuple[Database, Events]) -> None:
    """Five events in all."""
    db, events = desk
    put(events, *(at(events, NOON - timedelta(days=n), "TaskCompleted", {"task_id": "t"}) for n in range(1, 6)))
    assert correlations(db, FixedClock(NOON)).compute() == {"found": 0, "metrics": 1, "failed": 0}
