"""Merging two dialog keys of one pair, and the way back. One SQL function each, over every table with a dialog key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.db.client import Database
from core.events.event import Event

Mode = Literal["move", "copy"]
MERGE_S = 125.0  # above the 120 s that the functions give themselves


@dataclass(frozen=True)
class Side:
    """One key of a merge; times are ISO text. `recent`: written within the last 14 days."""

    dialog_key: str
    chunks: int
    sources: Mapping[str, int]
    ru_id: str | None
    tu_id: str | None
    order: str | None
    last_write_at: str | None
    last_ingest_at: str | None
    last_read_at: str | None
    last_usage_at: str | None
    recent: bool


@dataclass(frozen=True)
class MergePreview:
    """What a merge would meet. `clashes`: equal chunks under both keys, of which the newer one stays.

    `other_tables`: rows under the dropped key by table. `tombstones_without_text` find their chunk again only when an
    ingest brings it.
    """

    kept: Side
    dropped: Side
    clashes: int
    newer_under_dropped: int
    other_tables: Mapping[str, int]
    both_alive: bool
    different_pairs: bool
    tombstones_without_text: int

    @property
    def rows(self) -> int:
        """Rows that change their key when moved."""
        return self.dropped.chunks + sum(self.other_tables.values())


@dataclass(frozen=True)
class Merged:
    """By table: {moved, copied, lost}; a lost row gave way to a newer one of the same identity."""

    merge_id: str
    tables: Mapping[str, Mapping[str, int]]

    def count(self, what: str) -> int:
        return sum(table.get(what, 0) for table in self.tables.values())


@dataclass(frozen=True)
class MergeRow:
    """A merge of the past. `written_again`: chunks came under the dropped key since."""

    id: str
    kept_key: str
    dropped_key: str
    mode: str
    counts: Mapping[str, Any]
    actor: Mapping[str, Any]
    merged_at: str
    undo_until: str
    undone_at: str | None
    ru_id: str | None
    tu_id: str | None
    chunks_under_dropped: int
    written_again: bool


@dataclass(frozen=True)
class MergePage:
    rows: tuple[MergeRow, ...]
    total: int


class MergeStore:
    """Source: SQL functions desk_merge_preview, desk_merge_dialog_keys, desk_undo_merge, desk_merge_list."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def preview(self, kept: str, dropped: str) -> MergePreview:
        """Errors: DatabaseError."""
        params = {"p_kept": kept, "p_dropped": dropped}
        answer = self._db.rpc("desk_merge_preview", params, read=True, returns=dict, timeout_s=MERGE_S)
        return MergePreview(
            kept=Side(**answer["kept"]),
            dropped=Side(**answer["dropped"]),
            clashes=int(answer["clashes"]["chunks"]),
            newer_under_dropped=int(answer["clashes"]["newer_under_dropped"]),
            other_tables=dict(answer["other_tables"]),
            both_alive=bool(answer["both_alive"]),
            different_pairs=bool(answer["different_pairs"]),
            tombstones_without_text=int(answer["tombstones_without_text"]),
        )

    def merge(self, kept: str, dropped: str, mode: Mode, event: Event) -> Merged:
        """All of it with its event, or nothing. Errors: DatabaseError."""
        params = {"p_kept": kept, "p_dropped": dropped, "p_mode": mode, "p_event": event.row()}
        answer = self._db.rpc("desk_merge_dialog_keys", params, read=False, returns=dict, timeout_s=MERGE_S)
        return Merged(str(answer["merge_id"]), dict(answer["tables"]))

    def undo(self, merge_id: str, event: Event) -> Mapping[str, Any]:
        """{outcome: done, missing, undone, expired or later; rows}. Errors: DatabaseError."""
        params = {"p_id": merge_id, "p_event": event.row()}
        return self._db.rpc("desk_undo_merge", params, read=False, returns=dict, timeout_s=MERGE_S)

    def list(self, *, limit: int = 25, offset: int = 0) -> MergePage:
        """Newest first. Errors: DatabaseError."""
        params = {"p_limit": limit, "p_offset": offset}
        answer = self._db.rpc("desk_merge_list", params, read=True, returns=dict)
        return MergePage(tuple(MergeRow(**row) for row in answer["rows"]), int(answer["total"]))
