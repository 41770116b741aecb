"""One entity day by day: its hash for a year, its payload while the snapshot is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.snapshots.fields import FieldChange, field_changes
from core.snapshots.rows import known


@dataclass(frozen=True)
class EntityDay:
    """The entity on one day; `id` is None where only the hash is left, `changed` against `previous_date`.

    `fields`: what changed against that day; None where one of the two payloads is no longer kept.
    """

    sync_date: str
    content_hash: str | None = None
    id: str | None = None
    payload: Any = None
    text: str | None = None
    expires_at: str | None = None
    recorded_at: str | None = None
    previous_date: str | None = None
    changed: bool = False
    fields: tuple[FieldChange, ...] | None = None

    @property
    def stored(self) -> bool:
        return self.id is not None


@dataclass(frozen=True)
class History:
    """Newest first; `days` known in all, `stored` with a payload, `changes` between neighbours, `first` day known."""

    rows: tuple[EntityDay, ...]
    days: int
    stored: int
    changes: int
    first: str | None

    @property
    def last_change(self) -> EntityDay | None:
        """The latest day on which it was another than the day before."""
        return next((row for row in self.rows if row.changed), None)


def history_of(answer: Mapping[str, Any]) -> History:
    """From the answer of desk_snapshot_history."""
    rows = [known(EntityDay, row) for row in answer["rows"]]
    by_day = {row.sync_date: row for row in rows}
    return known(History, {**answer, "rows": tuple(_with_fields(row, by_day) for row in rows)})


def _with_fields(day: EntityDay, by_day: Mapping[str, EntityDay]) -> EntityDay:
    before = by_day.get(day.previous_date or "")
    if before is None or not (before.stored and day.stored):
        return day
    return replace(day, fields=field_changes(before.payload, day.payload) if day.changed else ())
