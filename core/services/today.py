"""Today's numbers beside yesterday's, up to the same time of day, for one glance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from core.events.store import EventStore
from core.snapshots.coverage import DayTotal
from core.snapshots.reads import SnapshotReads
from core.snapshots.retention import Expiry
from core.usage.lines import Line
from core.usage.periods import before, last_days
from core.usage.report import UsageReports


@dataclass(frozen=True)
class DayFigures:
    """One day as far as it is compared. `events` counts by type; `sync` is the UTC day's, whole."""

    usage: Line
    events: Mapping[str, int]
    sync: DayTotal


@dataclass(frozen=True)
class Today:
    """`expiry` is as of now; `used` says whether any call was ever logged."""

    today: DayFigures
    yesterday: DayFigures
    expiry: Expiry
    used: bool


def today_and_yesterday(
    usage: UsageReports, events: EventStore, snapshots: SnapshotReads, now: datetime, zone: ZoneInfo
) -> Today:
    """From the midnight of `zone` on; usage is totalled by the hour, so both days end with the hour that has begun.

    Errors: DatabaseError.
    """
    period = last_days(1, now, zone)
    previous = before(period, zone)
    used, used_before = (usage.summary(p, ()) for p in (period, previous))
    happened, happened_before = (events.count_by_type(p.start, p.end) for p in (period, previous))
    past, current = snapshots.days(now.date() - timedelta(1), now.date())
    return Today(
        DayFigures(used.total, happened, current),
        DayFigures(used_before.total, happened_before, past),
        snapshots.expiry(),
        used.first is not None,
    )
