"""The past as charts: steps, gaps, local moments. Case 25."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from core.health.timeline import History, Latency, Segment, Uptime
from pages._shared.health.drawing import latency, local, states, with_gaps
from pages._shared.health.history import percent

KYIV = ZoneInfo("Europe/Kyiv")
AT = datetime(2026, 11, 29, 23, 30, tzinfo=UTC)


def _history() -> History:
    segments = (
        Segment("database", "ok", "", AT, AT + timedelta(minutes=10)),
        Segment("database", "down", "no_answer", AT + timedelta(minutes=40), AT + timedelta(minutes=50)),
        Segment("another", "ok", "", AT, AT + timedelta(minutes=5)),
    )
    points = tuple(Latency("database", AT + timedelta(minutes=m), 5.0, 9.0) for m in (0, 5, 10, 40))
    return History(AT, AT + timedelta(hours=1), 300, segments, points)


def test_moments_are_local_texts() -> None:
    """Half past eleven in UTC is the next day in Kyiv, in every browser."""
    assert local(AT, KYIV) == "2026-11-30T01:30:00"
    (ok, down) = states(_history(), {"database": "Chunk table"}, KYIV).data
    assert list(ok.base) == ["2026-11-30T01:30:00"] and list(down.base) == ["2026-11-30T02:10:00"]


def test_time_that_nobody_looked_at_stays_empty() -> None:
    """No bar between the two runs, no bar for a component that is not shown; each status has its word."""
    figure = states(_history(), {"database": "Chunk table"}, KYIV)
    assert [trace.name for trace in figure.data] == ["ok", "down"]
    assert [list(trace.x) for trace in figure.data] == [[600_000.0], [600_000.0]]
    assert {y for trace in figure.data for y in trace.y} == {"Chunk table"}


def test_a_line_ends_where_nothing_was_measured() -> None:
    """A None between two points that are further apart than two buckets, and no line across it."""
    at, mean, _ = with_gaps(_history().latency, 300)
    assert mean == [5.0, 5.0, 5.0, None, 5.0] and at[3] == AT + timedelta(minutes=15)
    (trace,) = latency(_history(), {"database": "Chunk table"}, KYIV).data
    assert trace.connectgaps is False and trace.y[3] is None


def test_uptime_is_never_rounded_up() -> None:
    """One second down in 30 days is not 100 %; nothing known is unknown."""
    month = 30 * 86400.0
    assert percent(Uptime("overall", 720, month, month - 1)) == "99.999 %"
    assert percent(Uptime("overall", 720, month, month)) == "100 %"
    assert percent(Uptime("overall", 720, 0, 0)) == "unknown" and percent(None) == "unknown"
