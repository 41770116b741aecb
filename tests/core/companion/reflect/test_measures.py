"""Daily figures over events, in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from core.clock import FixedClock
from core.companion.contract import Measure
from core.companion.reflect.measures import Measures
from core.db.client import Database
from core.events.emitter import Events
from core.local.server import Endpoint
from tests.support.companion_events import TASKS, WATER, at, put, store, task, water

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY, YESTERDAY = date(2026, 11, 30), date(2026, 11, 29)


@pytest.fixture
def desk(endpoint: Endpoint, tmp_path: Path) -> Iterator[tuple[Database, Events]]:
    with store(endpoint, tmp_path, FixedClock(NOON)) as both:
        yield both


def search(events: Events, when: datetime, latency: float, *, fallback: bool, key: str = "a"):
    payload = {"dialog_key": key, "latency_ms": latency, "fallback": fallback}
    return at(events, when, "SearchPerformed", payload)


def test_each_figure_of_a_day(desk: tuple[Database, Events]) -> None:
    """Count, sum, mean, maximum, 95th percentile, distinct; a flag is 0 or 1."""
    db, events = desk
    put(events, *(search(events, NOON, n * 10.0, fallback=n == 5, key="ab"[n % 2]) for n in range(1, 6)))
    searched = ("SearchPerformed",)
    found = Measures(db, ZoneInfo("UTC")).daily(
        {
            "n": Measure(searched),
            "sum": Measure(searched, "sum", "latency_ms"),
            "avg": Measure(searched, "avg", "latency_ms"),
            "max": Measure(searched, "max", "latency_ms"),
            "p95": Measure(searched, "p95", "latency_ms"),
            "dialogs": Measure(searched, "distinct", "dialog_key"),
            "fallback": Measure(searched, "avg", "fallback"),
            "true": Measure(searched, where={"fallback": "true"}),
            "none": Measure(("SearchEmpty",)),
        },
        YESTERDAY,
        TODAY,
    )
    assert {name: days.get(TODAY) for name, days in found.items()} == {
        "n": 5,
        "sum": 150,
        "avg": 30,
        "max": 50,
        "p95": pytest.approx(48),
        "dialogs": 2,
        "fallback": pytest.approx(0.2),
        "true": 1,
        "none": None,
    }


def test_undone_entries_and_other_drinks_do_not_count(desk: tuple[Database, Events]) -> None:
    """Coffee does not feed water; what was undone is subtracted on its day, and no sum falls for what is no number."""
    db, events = desk
    put(
        events,
        water(events, NOON, 500),
        water(events, NOON, 300, kind="coffee"),
        water(events, NOON, 250),
        at(events, NOON, "DrinkEntryUndone", {"drink_type": "water", "quantity_ml": 250, "date": TODAY}),
        at(events, NOON, "DrinkLogged", {"drink_type": "water", "date": TODAY}),
    )
    assert Measures(db, ZoneInfo("UTC")).daily({"w": WATER}, TODAY, TODAY) == {"w": {TODAY: 500}}


def test_a_day_that_is_named_beats_the_moment(desk: tuple[Database, Events]) -> None:
    """Entered today for a day last week, or planned for next month: it counts there; else the moment counts."""
    db, events = desk
    put(
        events,
        water(events, NOON, 500, day=TODAY - timedelta(days=6)),
        water(events, NOON, 700, day=TODAY + timedelta(days=30)),
        at(events, NOON, "DrinkLogged", {"drink_type": "water", "quantity_ml": 100}),
    )
    found = Measures(db, ZoneInfo("UTC")).daily({"w": WATER}, TODAY - timedelta(days=10), TODAY + timedelta(days=40))
    assert found["w"] == {TODAY - timedelta(days=6): 500, TODAY: 100, TODAY + timedelta(days=30): 700}


def test_the_day_is_that_of_the_zone(desk: tuple[Database, Events]) -> None:
    """21:59 and 22:01 UTC are two days in Kyiv."""
    db, events = desk
    put(events, task(events, NOON.replace(hour=21, minute=59)), task(events, NOON.replace(hour=22, minute=1)))
    days = (TODAY, TODAY + timedelta(days=1))
    assert Measures(db, ZoneInfo("Europe/Kyiv")).daily({"t": TASKS}, *days) == {"t": dict.fromkeys(days, 1)}


def test_a_spoilt_day_has_no_value(desk: tuple[Database, Events]) -> None:
    """Searches count on days without a report of wrong context only."""
    db, events = desk
    put(
        events,
        search(events, NOON, 1.0, fallback=False),
        search(events, NOON - timedelta(days=1), 1.0, fallback=False),
        at(events, NOON, "WrongContextReported", {"dialog_key": "a", "reason": "stale"}),
    )
    clean = Measure(("SearchPerformed",), unless=("WrongContextReported",))
    assert Measures(db, ZoneInfo("UTC")).daily({"c": clean}, YESTERDAY, TODAY) == {"c": {YESTERDAY: 1}}


def test_more_events_than_a_page_holds(desk: tuple[Database, Events]) -> None:
    """2,500 events of a day are 2,500, also by type: no cap applies."""
    db, events = desk
    put(events, *(task(events, NOON) for _ in range(2500)))
    assert Measures(db, ZoneInfo("UTC")).daily({"t": TASKS}, TODAY, TODAY) == {"t": {TODAY: 2500}}
    assert events.store.count_by_type(NOON - timedelta(hours=1), NOON + timedelta(hours=1)) == {"TaskCompleted": 2500}
