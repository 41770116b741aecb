"""What the Snapshots page reads, by name and type; lifetime and staleness are those of `reads.snapshots`."""

from __future__ import annotations

from datetime import date

from core.snapshots.coverage import Calendar, DayTotal
from core.snapshots.diff import DaysDiff, DialogDiff
from core.snapshots.history import History
from core.snapshots.retention import Expiry
from core.snapshots.rows import SnapshotPage
from core.snapshots.schedule import Schedule
from pages._shared import reads
from pages._shared.reads import PAGE, Read
from pages._shared.snapshots.choices import Entity


def expiry() -> Read[Expiry]:
    return reads.snapshots("expiry")


def schedule() -> Read[Schedule]:
    return reads.snapshots("state")


def calendar(first: date, last: date, dialog_key: str | None, page: int) -> Read[Calendar]:
    return reads.snapshots("calendar", first, last, dialog_key, limit=PAGE, offset=(page - 1) * PAGE)


def days(first: date, last: date, dialog_key: str | None) -> Read[tuple[DayTotal, ...]]:
    return reads.snapshots("days", first, last, dialog_key)


def entities(
    day: date | None, dialog_key: str | None, entity_type: str | None, state: str | None, page: int
) -> Read[SnapshotPage]:
    return reads.snapshots(
        "entities",
        day,
        dialog_key,
        entity_type=entity_type,
        state=state,
        limit=PAGE,
        offset=(page - 1) * PAGE,
    )


def diff(dialog_key: str, day_from: date, day_to: date) -> Read[DialogDiff]:
    return reads.snapshots("diff", dialog_key, day_from, day_to)


def diff_days(day_from: date, day_to: date, page: int) -> Read[DaysDiff]:
    return reads.snapshots("diff_days", day_from, day_to, limit=PAGE, offset=(page - 1) * PAGE)


def history(entity: Entity) -> Read[History]:
    return reads.snapshots("history", *entity)
