"""Local days: one zone for "today", for the start of a day, and for the time at which something is due."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.clock import Clock

DAY = timedelta(days=1)


def local_today(clock: Clock, zone: ZoneInfo) -> date:
    """The date it is there now."""
    return clock.now().astimezone(zone).date()


def instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    """When a wall clock shows that time on that day, in UTC.

    The first of two such moments where clocks go back; where they go forward over it, as far after midnight as it
    would have been: later, never missing.
    """
    return datetime.combine(day, at, tzinfo=zone).astimezone(UTC)


def day_range(first: date, last: date) -> list[date]:
    """Every date from the first to the last, both included."""
    return [first + n * DAY for n in range((last - first).days + 1)]
