"""Snapshots as something to ingest: which days a dialog has, and the body of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from core.access.roles import permit
from core.db.client import Database
from core.errors import NotFound
from core.memory.keys import both_keys
from core.services.snapshot_body import SnapshotBody, snapshot_body
from core.snapshots.reads import SnapshotReads
from core.snapshots.rows import StoredSnapshot

PAGE = 500
COLUMNS = "id,dialog_key,source,source_id,text,note_date,sent_at"


class SnapshotSource:
    """Thread-safe, as its Database is."""

    def __init__(self, db: Database, reads: SnapshotReads) -> None:
        self._db = db
        self._reads = reads

    def days(self, dialog_key: str) -> list[str]:
        """Days with snapshots of this dialog that still stand, newest first. Errors: DatabaseError."""
        permit("snapshots")
        found = {row.sync_date for row in self._entities(dialog_key, None) if row.entity_type != "daily_sync"}
        return sorted(found, reverse=True)

    def body(self, dialog_key: str, day: date) -> SnapshotBody:
        """What to ingest for that day, with what memory holds of it already.

        Errors: Forbidden, NotFound where the day has no snapshots of the dialog (any more), DatabaseError.
        """
        permit("snapshots")
        rows = list(self._entities(dialog_key, day))
        if not any(row.entity_type != "daily_sync" for row in rows):
            raise NotFound("There are no snapshots of this dialog on this day.", hint="They are kept for 14 days.")
        pair = next(((r.ru_id, r.tu_id) for r in rows if r.ru_id and r.tu_id), None)
        keys = {dialog_key, *(both_keys(*pair) if pair else ())}
        return snapshot_body(rows, self._stored(keys))

    def _entities(self, dialog_key: str, day: date | None) -> Iterator[StoredSnapshot]:
        offset = 0
        while rows := self._reads.entities(day, dialog_key, limit=PAGE, offset=offset).rows:
            yield from rows
            offset += len(rows)

    def _stored(self, dialog_keys: set[str]) -> Iterator[Mapping[str, Any]]:
        for key in sorted(dialog_keys):
            for page in self._db.pages("client_memory_chunks", COLUMNS, where={"dialog_key": key}):
                yield from page
