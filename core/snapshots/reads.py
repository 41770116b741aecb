"""What pages, API and command line read about snapshots. Days are ISO texts, the stored sync_date as it is."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from core.clock import Clock
from core.db.client import Database
from core.snapshots.coverage import Calendar, DayTotal, calendar_of, totals_of
from core.snapshots.diff import DaysDiff, DialogDiff, days_diff, dialog_diff
from core.snapshots.history import History, history_of
from core.snapshots.retention import Expiry
from core.snapshots.rows import SnapshotPage, StoredSnapshot, known


class SnapshotReads:
    """Every list is paged and totally ordered, in SQL. Thread-safe, as its Database is."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def diff(self, dialog_key: str, day_from: date, day_to: date, *, limit: int = 500) -> DialogDiff:
        """One dialog between two days, at most `limit` differences with their payloads. SQL: desk_snapshot_diff."""
        answer = self._read(
            "desk_snapshot_diff", p_dialog_key=dialog_key, p_from=_day(day_from), p_to=_day(day_to), p_limit=limit
        )
        return dialog_diff(dialog_key, _day(day_from), _day(day_to), answer)

    def diff_days(self, day_from: date, day_to: date, *, limit: int = 25, offset: int = 0) -> DaysDiff:
        """All dialogs between two days, those with most differences first. SQL: desk_snapshot_diff_days."""
        return days_diff(
            self._read(
                "desk_snapshot_diff_days", p_from=_day(day_from), p_to=_day(day_to), p_limit=limit, p_offset=offset
            )
        )

    def days(self, first: date, last: date, dialog_key: str | None = None) -> tuple[DayTotal, ...]:
        """Every day of the window, all dialogs together. SQL: desk_snapshot_days."""
        window = {"p_from": _day(first), "p_to": _day(last), "p_today": _day(self._clock.now().date())}
        params = {**window, "p_dialog_key": dialog_key}
        return totals_of(self._db.rpc("desk_snapshot_days", params, read=True, returns=list), first, last)

    def calendar(
        self, first: date, last: date, dialog_key: str | None = None, *, limit: int = 25, offset: int = 0
    ) -> Calendar:
        """Coverage day by day, dialogs with missing syncs first. SQL: desk_snapshot_calendar."""
        today = self._clock.now().date()
        answer = self._read(
            "desk_snapshot_calendar",
            p_from=_day(first),
            p_to=_day(last),
            p_dialog_key=dialog_key,
            p_limit=limit,
            p_offset=offset,
            p_today=_day(today),
        )
        return calendar_of(answer, first, last, today)

    def entities(
        self,
        day: date | None = None,
        dialog_key: str | None = None,
        *,
        entity_type: str | None = None,
        state: str | None = None,
        limit: int = 25,
        offset: int = 0,
    ) -> SnapshotPage:
        """Snapshots by day, dialog, type and state of expiry. SQL: desk_snapshot_entities."""
        answer = self._read(
            "desk_snapshot_entities",
            p_date=None if day is None else _day(day),
            p_dialog_key=dialog_key,
            p_entity_type=entity_type,
            p_state=state,
            p_limit=limit,
            p_offset=offset,
        )
        rows = tuple(known(StoredSnapshot, row) for row in answer["rows"])
        return SnapshotPage(rows, int(answer["total"]), dict(answer["by_type"]))

    def get(self, snapshot_id: str) -> StoredSnapshot | None:
        """One snapshot by its id, None where there is none (any more)."""
        rows = self._read("desk_snapshot_entities", p_id=snapshot_id)["rows"]
        return known(StoredSnapshot, rows[0]) if rows else None

    def history(self, dialog_key: str, entity_type: str, source_role: str, source_id: str) -> History:
        """One entity over up to a year. SQL: desk_snapshot_history."""
        answer = self._read(
            "desk_snapshot_history",
            p_dialog_key=dialog_key,
            p_entity_type=entity_type,
            p_source_role=source_role,
            p_source_id=source_id,
        )
        return history_of(answer)

    def expiry(self, cutoff: datetime | None = None) -> Expiry:
        """What clean-up would delete (by now, or of what had expired by `cutoff`), what expires soon, what has no
        expiry, what is pinned."""
        return known(Expiry, self._read("desk_snapshot_expiry", p_cutoff=(cutoff or self._clock.now()).isoformat()))

    def _read(self, name: str, **params: Any) -> dict[str, Any]:
        return self._db.rpc(name, params, read=True, returns=dict)


def _day(day: date) -> str:
    return day.isoformat()
