"""Snapshots: what upstream delivered and what is to be let go, as the companion sees it.

Source: spec/companion.md section 18.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from core.companion.contract import (
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    Section,
    StreakDef,
)
from core.companion.modules.desk import NOTED_AGAIN, Desk, share
from core.companion.modules.snapshots_rules import RULES
from core.companion.modules.snapshots_tools import tools

EVENTS = (
    *("SnapshotsCaptured", "SnapshotsSynced", "SnapshotChanged", "DailySyncCompleted", "DailySyncMissed"),
    *("CleanupPreviewed", "SnapshotsDeleted", "CleanupRan", "CleanupScheduleChanged", "SnapshotsCompared"),
    *("SnapshotPinned", "SnapshotUnpinned"),
)
STALE_AFTER = tuple(name for name in EVENTS if name not in ("SnapshotsCompared", "CleanupPreviewed", "DailySyncMissed"))
SYNCED = ("DailySyncCompleted", "SnapshotsSynced", "SnapshotsCaptured")
EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("expected", "synced", "dialogs", "missing", "missing_yesterday", "changed", "cleanups"), 0),
    **dict.fromkeys(("expired", "expired_24h", "expiring_24h"), 0),
    **{"oldest_expired_age_h": None, "synced_percent": 0.0, "limits": {}},
}


def snapshots(desk: Desk) -> Module:
    return Module(
        name="snapshots",
        label="Snapshots",
        content_class="sensitive",
        events=EVENTS,
        section=Section(lambda day: section(desk, day), EMPTY, stale_after=STALE_AFTER),
        tools=tools(desk),
        streaks=(
            StreakDef(
                "snapshots.daily_sync",
                "snapshots",
                "Every due sync completed",
                Measure(SYNCED, day_field="sync_date"),
                daily=sync_days(desk, lambda row: float(row["expected"] > 0 and row["synced"] >= row["expected"])),
                grace=0,
            ),
            StreakDef(
                "snapshots.clean",
                "snapshots",
                "No snapshot expired for more than a day",
                Measure(("CleanupRan",)),
                threshold=0,
                comparison="lte",
                daily=desk.days("snapshots.expired_24h"),
                closing=True,
                grace=0,
            ),
        ),
        metrics=(
            MetricDef("snapshots.changed", "snapshots", "Entities changed", "entities", Measure(("SnapshotChanged",))),
            MetricDef(
                "snapshots.synced",
                "snapshots",
                "Dialogs synced",
                "dialogs",
                daily=sync_days(desk, lambda row: float(row["synced"])),
            ),
            MetricDef(
                "snapshots.synced_percent",
                "snapshots",
                "Share of due syncs completed",
                "%",
                daily=sync_days(desk, lambda row: share(row["synced"], row["expected"]) if row["expected"] else None),
                trivial_with=("snapshots.synced",),
            ),
            MetricDef(
                "snapshots.expired",
                "snapshots",
                "Expired at the end of the day",
                "rows",
                daily=desk.days("snapshots.expired"),
            ),
        ),
        goal_templates=(
            GoalTemplate(
                "snapshots.all-synced",
                "Every due dialog synced",
                "snapshots",
                GoalMetric("custom", name="snapshots.synced_percent"),
                GoalTarget(100, "day", "gte"),
            ),
            GoalTemplate(
                "snapshots.none-expired",
                "No expired snapshot at the end of the day",
                "snapshots",
                GoalMetric("custom", name="snapshots.expired"),
                GoalTarget(0, "day", "eq"),
            ),
            GoalTemplate(
                "snapshots.weekly-cleanup",
                "A clean-up every week",
                "snapshots",
                GoalMetric("event_count", ("CleanupRan",)),
                GoalTarget(1, "week", "gte"),
            ),
        ),
        rules=RULES,
        extractors=(
            Extractor("dow", "CleanupRan", "snapshots are cleaned up"),
            Extractor("time", "DailySyncCompleted", "the daily sync is completed"),
        ),
    )


def section(desk: Desk, day: date) -> Mapping[str, Any]:
    """The snapshots' part of a local day. Errors: DatabaseError."""
    desk.deps.events.drain.flush(0.5)
    period = desk.period(day)
    row: Any = desk.read(
        "companion_snapshot_day", day=day, **{"from": period.start}, to=period.end, now=desk.deps.clock.now()
    )
    figures = {f"snapshots.{name}": float(row[name]) for name in ("expired", "expired_24h")}
    if day == desk.today():
        desk.noted(lambda: figures, *figures, every=NOTED_AGAIN)
    return {
        **row,
        "synced_percent": share(row["synced"], row["expected"]),
        "limits": {
            name: desk.limit(f"snapshots.{name}")
            for name in ("expired_many", "expired_flood", "expired_old_days", "expired_ancient_days")
        },
    }


def sync_days(
    desk: Desk, value: Callable[[Mapping[str, Any]], float | None]
) -> Callable[[date, date], Mapping[date, float]]:
    """A figure of each day's syncs; days of which nothing is known have none, nor those without a value."""

    def read(since: date, until: date) -> Mapping[date, float]:
        answer: Any = desk.read("companion_sync_days", since=since, until=until)
        found = {date.fromisoformat(day): value(row) for day, row in answer.items()}
        return {day: figure for day, figure in found.items() if figure is not None}

    return read


def tell_missed(desk: Desk) -> bool:
    """DailySyncMissed of yesterday, once, where a sync that was due did not come. Errors: DatabaseError."""
    day = desk.today() - timedelta(days=1)
    answer: Any = desk.read("companion_sync_days", since=day, until=day)
    row = answer.get(day.isoformat(), {"expected": 0, "synced": 0})
    missing = row["expected"] - row["synced"]
    payload = {"sync_date": day.isoformat(), "expected": row["expected"], "missing": missing}
    return missing > 0 and desk.tell_once("DailySyncMissed", payload, day)
