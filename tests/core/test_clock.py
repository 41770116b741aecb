"""Clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.clock import FixedClock, SystemClock


def test_system_clock_is_utc_and_goes_on() -> None:
    """The present, with zone UTC."""
    first, second = SystemClock().now(), SystemClock().now()
    assert first.utcoffset() == timedelta(0) and first <= second
    assert abs(first - datetime.now(UTC)) < timedelta(minutes=1)


def test_fixed_clock_stands_still_until_moved() -> None:
    """The same moment each time, and another one after it was set."""
    clock = FixedClock(datetime(2026, 11, 30, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2026, 11, 30, tzinfo=UTC)
    clock.at += timedelta(days=1)
    assert clock.now().day == 1
