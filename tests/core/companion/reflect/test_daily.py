"""The job at 03:30 local."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import psycopg
import pytest

from core.clock import FixedClock
from core.companion.reflect.daily import Daily, prune
from core.companion.reflect.days import day_range, instant
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.events.emitter import Events
from core.local.server import Endpoint
from tests.support.companion_events import at, put, store

KYIV = ZoneInfo("Europe/Kyiv")
MORNING = datetime(2026, 11, 30, 8, tzinfo=UTC)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(MORNING)


@pytest.fixture
def desk(endpoint: Endpoint, tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Database, Events]]:
    with store(endpoint, tmp_path, clock) as both:
        yield both


def test_each_step_by_itself_once_a_day(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """In the order of the specification; a failing one is recorded, told, and tried again, thrice in all."""
    daily = Daily(*desk, clock, KYIV)
    ran: list[str] = []

    def fails() -> None:
        ran.append("streaks")
        raise DatabaseUnavailable("away") if len(ran) < 4 else RuntimeError("secret")

    daily.register("scan", lambda: ran.append("scan"))
    daily.register("own", lambda: ran.append("own"))
    daily.register("streaks", fails)
    daily.register("prune", lambda: {"deleted": 3})
    assert daily.run_due() == ["prune", "scan", "own"]
    assert ran == ["streaks", "scan", "own"]
    assert [daily.run_due() for _ in range(4)] == [[]] * 4
    runs = {run.job: run for run in daily.runs()}
    assert (runs["prune"].status, runs["prune"].detail) == ("done", {"deleted": 3})
    assert (runs["streaks"].status, runs["streaks"].attempts) == ("failed", 3)
    assert runs["streaks"].detail == {"error": "RuntimeError"}
    assert desk[1].flush()
    failed = desk[1].store.query(type="CompanionJobFailed").rows
    assert len(failed) == 3 and {event.payload["step"] for event in failed} == {"streaks"}
    clock.at += timedelta(days=1)
    assert daily.run_due() == ["prune", "scan", "own"]


def test_done_by_one_of_two_processes(desk: tuple[Database, Events], clock: FixedClock, dsn: str) -> None:
    """What the other does or has done is left alone; what a dead one began is taken over."""
    here, there = Daily(*desk, clock, KYIV), Daily(*desk, clock, KYIV)
    met: list[list[str]] = []
    here.register("scan", lambda: met.append(there.run_due()))
    there.register("scan", lambda: None)
    assert here.run_due() == ["scan"] and met == [[]] and there.run_due() == []
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("update companion_job_runs set status = 'running', lease_until = now() - interval '1 s'")
    assert there.run_due() == ["scan"]


@pytest.mark.parametrize(
    ("zone", "first", "last"),
    [
        ("Europe/Kyiv", date(2027, 3, 26), date(2027, 3, 30)),
        ("Europe/Kyiv", date(2027, 10, 29), date(2027, 11, 2)),
        ("Africa/Cairo", date(2027, 4, 28), date(2027, 5, 2)),
        ("Pacific/Apia", date(2026, 11, 28), date(2026, 12, 2)),
    ],
)
def test_once_for_each_local_date(
    desk: tuple[Database, Events], clock: FixedClock, zone: str, first: date, last: date
) -> None:
    """Asked every ten minutes over a change of clocks: each date once, never before its time."""
    daily = Daily(*desk, clock, ZoneInfo(zone))
    days: list[tuple[date, datetime]] = []
    clock.at = datetime.combine(first, datetime.min.time(), tzinfo=ZoneInfo(zone)).astimezone(UTC)
    while clock.at.astimezone(ZoneInfo(zone)).date() <= last:
        due = daily.due_day()
        if not days or days[-1][0] != due:
            days.append((due, clock.at.astimezone(ZoneInfo(zone))))
        assert daily.next_run().astimezone(UTC) > clock.at
        clock.at += timedelta(minutes=10)
    assert [day for day, _ in days] == day_range(first - timedelta(days=1), last)
    assert all(at.date() == day and (at.hour, at.minute) >= (3, 30) for day, at in days[1:])


def test_a_midnight_that_does_not_exist() -> None:
    """Clocks go forward over it in Cairo: the day still begins, an hour later by the clock."""
    cairo = ZoneInfo("Africa/Cairo")
    [day] = [d for d in day_range(date(2027, 4, 28), date(2027, 5, 2)) if d.day == 30]
    begins = instant(day, datetime.min.time(), cairo)
    assert begins.astimezone(cairo).date() == day


def test_old_events_go(desk: tuple[Database, Events]) -> None:
    """First by age, and it is told; with nothing to take out there is nothing to tell."""
    _, events = desk
    now = datetime.now(UTC)
    put(events, at(events, now - timedelta(days=91), "SearchEmpty"), at(events, now, "SearchEmpty"))
    assert prune(events) == {"deleted": 1} and prune(events) == {"deleted": 0}
    assert events.flush()
    assert [event.payload for event in events.store.query(type="EventsPruned").rows] == [{"deleted": 1}]
