"""Samples in, history out, against the embedded Supabase."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.clock import FixedClock
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.health.changes import OVERALL
from core.health.report import Component, HealthReport, Status
from core.health.timeline import Timeline, Uptime

if TYPE_CHECKING:
    from core.local.server import Endpoint

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(autouse=True)
def _present() -> None:
    """The database has its own clock, and a whole run lies between loading this file and running it."""
    global NOW
    NOW = datetime.now(UTC).replace(microsecond=0)


def _report(at: datetime, status: Status, code: str = "", latency_ms: float = 12.0) -> HealthReport:
    one = Component("database", "Chunk table", status, "", "", at, at, latency_ms, {}, code)
    return HealthReport((Component("auth", "Auth", "ok", "", "", at, at, 3.0, {}), one), at)


@pytest.fixture
def timeline(endpoint: Endpoint) -> Iterator[Timeline]:
    db = Database(endpoint.url, endpoint.service_role_key)
    yield Timeline(db, FixedClock(NOW))
    db.close()


def _rows(dsn: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn) as connection:
        query = "select status, code from desk_health_checks where component = 'database' order by at, id"
        return connection.execute(query).fetchall()


def test_changes_at_once_and_one_sample_in_five_minutes(timeline: Timeline, dsn: str) -> None:
    """Twelve looks a minute apart with one outage: three changes and the samples between them."""
    for n in range(12):
        timeline.note(_report(NOW - timedelta(minutes=30 - n), "down" if n in (3, 4) else "ok", "no_answer"))
    assert _rows(dsn) == [
        ("ok", "no_answer"),
        ("down", "no_answer"),
        ("ok", "no_answer"),
        ("ok", "no_answer"),
    ]


def test_a_second_process_adds_no_equal_samples(timeline: Timeline, endpoint: Endpoint, dsn: str) -> None:
    """The database keeps one in five minutes, whoever asks."""
    other = Timeline(Database(endpoint.url, endpoint.service_role_key), FixedClock(NOW))
    for each in (timeline, other):
        each.note(_report(NOW - timedelta(minutes=1), "ok"))
    assert _rows(dsn) == [("ok", "")]


def test_runs_gaps_and_uptime(timeline: Timeline) -> None:
    """An hour: 30 minutes ok, 6 down, then nobody looked for 14, then ok; the gap belongs to neither side."""
    start = NOW - timedelta(minutes=60)
    for minute in (0, 5, 10, 15, 20, 25):
        timeline.note(_report(start + timedelta(minutes=minute), "ok"))
    timeline.note(_report(start + timedelta(minutes=30), "down", "no_answer"))
    timeline.note(_report(start + timedelta(minutes=35), "down", "no_answer"))
    timeline.note(_report(start + timedelta(minutes=59), "ok"))
    found = timeline.history(24)
    runs = [(s.status, s.starts, s.ends) for s in found.segments if s.component == "database"]
    minutes = [
        (s, round((a - start).total_seconds() / 60), round((b - start).total_seconds() / 60)) for s, a, b in runs
    ]
    assert minutes[:2] == [("ok", 0, 30), ("down", 30, 45)] and minutes[2][:2] == ("ok", 59)
    day = timeline.uptime()["database"][0]
    assert day.hours == 24 and day.known_s == pytest.approx(46 * 60, abs=90)
    assert day.share == pytest.approx(31 / 46, abs=0.03) and day.covered < 0.04
    assert {s.component for s in found.segments} == {"auth", "database", OVERALL}


def test_unknown_counts_for_neither_side() -> None:
    """No answer is not up, and not down; nothing known is no figure."""
    assert Uptime("x", 24, 0.0, 0.0).share is None
    assert Uptime("x", 24, 100.0, 99.0).share == 0.99


def test_an_outage_is_in_the_history_afterwards(timeline: Timeline, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the database is away samples wait, and are written with their own moments."""
    at = NOW - timedelta(minutes=20)
    timeline.note(_report(at, "ok"))

    def gone(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("away")

    with monkeypatch.context() as away:
        away.setattr(Database, "rpc", gone)
        timeline.note(_report(at + timedelta(minutes=2), "down", "database_unavailable"))
        assert timeline.flush() > 0
    timeline.note(_report(at + timedelta(minutes=4), "ok"))
    assert _rows(dsn) == [("ok", ""), ("down", "database_unavailable"), ("ok", "")]
    down = next(s for s in timeline.history(24).segments if s.status == "down" and s.component == "database")
    assert down.starts == at + timedelta(minutes=2) and down.ends == at + timedelta(minutes=4)


def test_latency_by_bucket(timeline: Timeline) -> None:
    """Mean and longest; a look that got no answer has no latency."""
    at = NOW - timedelta(minutes=30)
    timeline.note(_report(at, "ok", latency_ms=10))
    timeline.note(_report(at + timedelta(seconds=1), "degraded", "slow", latency_ms=30))
    points = [p for p in timeline.history(24).latency if p.component == "database"]
    assert sum(p.mean for p in points) / len(points) == pytest.approx(20) and max(p.most for p in points) == 30


def test_old_samples_go(timeline: Timeline, dsn: str) -> None:
    """After 30 days; a sample from the future counts as now."""
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "insert into desk_health_checks (at, component, status)"
            " values (now() - interval '31 days', 'database', 'ok')"
        )
    timeline.note(_report(NOW + timedelta(days=2), "ok"))
    with psycopg.connect(dsn) as connection:
        (row,) = connection.execute(
            "select at <= now() from desk_health_checks where component = 'database'"
        ).fetchall()
    assert row == (True,)
