"""Ranges on a local clock: whole days, no bucket after now, the hours of a change of clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from core.errors import InputError
from core.usage.periods import Period, before, day_buckets, hour_buckets, last_days, of_days, parse_bound, parse_period

KYIV = ZoneInfo("Europe/Kyiv")
NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)


def test_last_days_begin_at_local_midnight() -> None:
    """Seven days in Kyiv: from midnight there, six days ago, up to now."""
    assert last_days(7, NOW, KYIV) == Period(datetime(2026, 11, 23, 22, tzinfo=UTC), NOW)


def test_no_bucket_after_now() -> None:
    """Every day and hour up to now has its place, none beyond (case 25)."""
    period = of_days(date(2026, 11, 1), date(2026, 12, 31), NOW, KYIV)
    assert day_buckets(period, KYIV)[0] == "2026-11-01"
    assert day_buckets(period, KYIV)[-1] == "2026-11-30"
    assert len(day_buckets(period, KYIV)) == 30
    assert hour_buckets(Period(datetime(2026, 11, 30, 10, tzinfo=UTC), NOW), KYIV) == [
        "2026-11-30 12:00",
        "2026-11-30 13:00",
        "2026-11-30 14:00",
    ]


def test_a_day_that_ends_at_midnight_is_the_last() -> None:
    """The end is excluded: a period up to midnight has no bucket of the next day."""
    assert day_buckets(of_days(date(2026, 11, 1), date(2026, 11, 2), NOW, KYIV), KYIV) == ["2026-11-01", "2026-11-02"]


def test_the_hour_that_exists_twice() -> None:
    """25 October 2026 in Kyiv has 25 hours, the two alike told apart by their offset."""
    labels = hour_buckets(of_days(date(2026, 10, 25), date(2026, 10, 25), NOW, KYIV), KYIV)
    assert len(labels) == len(set(labels)) == 25
    assert "2026-10-25 03:00+03:00" in labels
    assert "2026-10-25 03:00+02:00" in labels


def test_the_period_before_is_as_long() -> None:
    """Seven days up to half past two are compared with seven days up to half past two, also over a change of clocks."""
    assert before(last_days(7, NOW, KYIV), KYIV) == Period(
        datetime(2026, 11, 16, 22, tzinfo=UTC), datetime(2026, 11, 23, 12, 30, tzinfo=UTC)
    )
    whole = of_days(date(2026, 10, 25), date(2026, 10, 31), NOW, KYIV)
    assert before(whole, KYIV) == of_days(date(2026, 10, 18), date(2026, 10, 24), NOW, KYIV)


def test_bounds_of_a_query() -> None:
    """A day as an end is included; a moment without a zone is local; a space stands for a plus sign."""
    assert parse_bound("2026-11-29", KYIV, "to", end=True) == datetime(2026, 11, 29, 22, tzinfo=UTC)
    assert parse_bound("2026-11-29", KYIV, "from", end=False) == datetime(2026, 11, 28, 22, tzinfo=UTC)
    assert parse_bound("2026-11-29T10:00", KYIV, "to", end=True) == datetime(2026, 11, 29, 8, tzinfo=UTC)
    assert parse_bound("2026-11-29T10:00:00 05:00", KYIV, "to", end=True) == datetime(2026, 11, 29, 5, tzinfo=UTC)
    assert parse_period(None, None, NOW, KYIV) == last_days(30, NOW, KYIV)


@pytest.mark.parametrize(
    ("start", "end", "field"),
    [
        ("soon", None, "from"),
        (None, "2026-13-01", "to"),
        ("2026-11-02", "2026-10-01", "to"),
        ("2020-01-01", None, "from"),
    ],
)
def test_bad_ranges_are_named(start: str | None, end: str | None, field: str) -> None:
    """What is no day, the wrong way round, or longer than 400 days."""
    with pytest.raises(InputError) as error:
        parse_period(start, end, NOW, KYIV)
    assert error.value.field == field
