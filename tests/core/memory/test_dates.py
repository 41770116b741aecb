"""Instants out of anything that looks like one, and the order of messages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory.dates import in_time_order, parse_moment


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        ("2026-05-20T10:00:00Z", "2026-05-20T10:00:00+00:00"),
        ("2026-05-20T10:00:00+03:00", "2026-05-20T07:00:00+00:00"),
        ("2026-05-20 10:00:00.125", "2026-05-20T10:00:00.125000+00:00"),
        ("2026-05-20", "2026-05-20T00:00:00+00:00"),
        ("20260520", "2026-05-20T00:00:00+00:00"),
        (1792892400, "2026-10-25T01:40:00+00:00"),
        ("1792892400", "2026-10-25T01:40:00+00:00"),
        (1792892400000, "2026-10-25T01:40:00+00:00"),
        ("1792892400500", "2026-10-25T01:40:00.500000+00:00"),
        (1792892400.5, "2026-10-25T01:40:00.500000+00:00"),
    ],
)
def test_readable(value: Any, iso: str) -> None:
    """ISO text with and without zone, seconds and milliseconds, as number and as text."""
    moment = parse_moment(value)
    assert moment is not None and moment.iso == iso


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", "yesterday", "2026-13-45", "20.05.2026", True, 0, 5, "5", "2026", 10**30, -1, "1e9", [], {}),
        *(float("nan"), "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-05-20T10:00:00\ud800+99:99"),
    ],
)
def test_unreadable(value: Any) -> None:
    """Nonsense is None and never an exception, also at the ends of the calendar."""
    assert parse_moment(value) is None


def test_zone_is_stated() -> None:
    """A time without a zone is known as such; an epoch number has one; a day alone is only a day."""
    unzoned, epoch, day = (parse_moment(v) for v in ("2026-10-25T03:10:00", 1792892400, "2026-10-25"))
    assert unzoned and not unzoned.zoned and not unzoned.day_only
    assert epoch and epoch.zoned
    assert day and day.day_only


def test_day_is_the_one_written() -> None:
    """Half an hour past midnight in Kyiv stays that day, though it is the day before in UTC."""
    moment = parse_moment("2026-11-01T00:30:00+02:00")
    assert moment and str(moment.day) == "2026-11-01" and moment.at.day == 31


def test_undated_keep_their_place() -> None:
    """The undated stay at their index; the dated are sorted over the other places, equal times in list order."""

    def at(day: int) -> datetime:
        return datetime(2026, 1, day, tzinfo=UTC)

    items = ["e3", "u1", "a1", "b1", "u2", "c2"]
    moments = [at(3), None, at(1), at(1), None, at(2)]
    assert in_time_order(items, moments) == ["a1", "u1", "b1", "c2", "u2", "e3"]
    assert in_time_order(["x", "y"], [None, None]) == ["x", "y"]


@given(st.lists(st.none() | st.integers(1, 28)))
def test_order_loses_nothing(days: list[int | None]) -> None:
    """Sorting is a permutation, sorted among the dated, and sorting twice changes nothing."""
    moments = [None if d is None else datetime(2026, 1, d, tzinfo=UTC) for d in days]
    order = in_time_order(range(len(days)), moments)
    assert sorted(order) == list(range(len(days)))
    dated = [moments[i] for i in order if moments[i]]
    assert dated == sorted(dated, key=str)
    assert in_time_order(order, [moments[i] for i in order]) == order
