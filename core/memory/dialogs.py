"""What the pages, the API and the command line read about dialogs. Every list is paged and totally ordered, in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from core.db.client import Database
from core.memory.keys import key_order
from core.memory.sources import SOURCES
from core.memory.stored import (
    ChunkPage,
    DialogPage,
    DialogRow,
    DialogStatus,
    MemoryOverview,
    Pair,
    PairPage,
    StoredChunk,
    TimelineDay,
)

__all__ = [
    "SORTS",
    "ChunkPage",
    "DialogPage",
    "DialogReads",
    "DialogRow",
    "DialogStatus",
    "MemoryOverview",
    "Pair",
    "PairPage",
    "StoredChunk",
    "TimelineDay",
]

T = TypeVar("T")
D = TypeVar("D", DialogRow, StoredChunk)

COLUMNS = "dialog_key,ru_id,tu_id,favorite_id,chunks,sources,first_at,last_at,updated_at"
SORTS = ("last_at", "chunks", "updated_at", "ru_id", "tu_id")


class DialogReads:
    """Reads over dialogs and their chunks. `model` names the active embedding model, None while there is none."""

    def __init__(self, db: Database, model: Callable[[], str | None]) -> None:
        self._db = db
        self._model = model

    def list(
        self,
        search: str | None = None,
        *,
        sort: str = "last_at",
        descending: bool = True,
        limit: int = 25,
        offset: int = 0,
    ) -> DialogPage:
        """Dialogs by key prefix or part of an RU, TU or favourite id; nulls last, ties by key: desk_dialog_list."""
        params = {
            "p_search": search or None,
            "p_sort": sort,
            "p_desc": descending,
            "p_limit": limit,
            "p_offset": offset,
        }
        return _dialogs(self._read("desk_dialog_list", params, dict))

    def text_search(self, text: str, *, limit: int = 25, offset: int = 0) -> DialogPage:
        """Dialogs with this literal text in a chunk, any case, the three apostrophes equal. SQL: desk_text_search."""
        return _dialogs(self._read("desk_text_search", {"p_text": text, "p_limit": limit, "p_offset": offset}, dict))

    def get(self, dialog_key: str) -> DialogRow | None:
        """The one dialog with exactly this key, or None."""
        # Not through the list's search, which would also match ids and be cut at a page.
        found = self._db.sample("desk_dialogs", COLUMNS, order="dialog_key", limit=1, where={"dialog_key": dialog_key})
        if not found or not found[0]["chunks"]:
            return None
        ru, tu = found[0]["ru_id"], found[0]["tu_id"]
        extra = {"order": key_order(dialog_key, ru, tu), "also_under": self._also_under(dialog_key, ru, tu)}
        return _dialog({**found[0], **extra})

    def chunks(
        self,
        dialog_key: str,
        *,
        source: str | None = None,
        flag: str | None = None,
        text: str | None = None,
        limit: int = 25,
        offset: int = 0,
    ) -> ChunkPage:
        """Chunks of a dialog, newest first, undated last, ties by id. SQL: desk_dialog_chunks."""
        answer = self._read(
            "desk_dialog_chunks",
            {
                "p_dialog_key": dialog_key,
                "p_source": source,
                "p_flag": flag,
                "p_text": text or None,
                "p_model": self._model(),
                "p_limit": limit,
                "p_offset": offset,
            },
            dict,
        )
        rows = tuple(_chunk(row) for row in answer["rows"])
        return ChunkPage(rows, int(answer["total"]), dict(answer.get("flag_counts") or {}))

    def chunks_by_id(self, ids: Sequence[str]) -> tuple[StoredChunk, ...]:
        """These chunks, those that exist, in the order asked for. SQL: desk_chunks_by_id."""
        if not ids:
            return ()
        found = {row["id"]: _chunk(row) for row in self._read("desk_chunks_by_id", {"p_ids": [*ids]}, list)}
        return tuple(found[i] for i in ids if i in found)

    def timeline(self, dialog_key: str, zone: str) -> tuple[TimelineDay, ...]:
        """Chunks by local day and source, oldest first, days without any left out. SQL: desk_dialog_timeline."""
        rows = self._read("desk_dialog_timeline", {"p_dialog_key": dialog_key, "p_tz": zone}, list)
        return tuple(TimelineDay(row["day"], row["source"], int(row["chunks"])) for row in rows)

    def status(self, dialog_keys: Sequence[str]) -> dict[str, DialogStatus]:
        """Freshness and counts of each key; a key without rows has zeros and no times. SQL: desk_dialog_status."""
        answer = self._read("desk_dialog_status", {"p_dialog_keys": [*dialog_keys]}, dict)
        return {key: _status(answer.get(key) or {}) for key in dialog_keys}

    def ambiguous_pairs(self, *, limit: int = 25, offset: int = 0) -> PairPage:
        """Pairs with rows under both key orders: spec/memory.md section 3. SQL: desk_ambiguous_pairs."""
        answer = self._read("desk_ambiguous_pairs", {"p_limit": limit, "p_offset": offset}, dict)
        return PairPage(tuple(Pair(r["ru_id"], r["tu_id"], tuple(r["keys"])) for r in answer["rows"]), answer["total"])

    def overview(self) -> MemoryOverview:
        """Totals of the whole memory. SQL: desk_overview."""
        answer = self._read("desk_overview", {}, dict)
        return MemoryOverview(
            chunks=int(answer["chunks"]),
            dialogs=int(answer["dialogs"]),
            by_source={source: int((answer["by_source"] or {}).get(source, 0)) for source in SOURCES},
            by_model=dict(answer["by_model"] or {}),
            first_at=answer["first_at"],
            last_at=answer["last_at"],
            ambiguous_pairs=int(answer["ambiguous_pairs"]),
            rollup_stale=bool(answer["rollup_stale"]),
            demo=dict(answer["demo"] or {}),
        )

    def check_rollups(self) -> Mapping[str, Any]:
        """{equal, differing (at most 50 keys), stale}: does the rollup equal the table? SQL: desk_check_rollups."""
        return self._read("desk_check_rollups", {}, dict)

    def rebuild_rollups(self) -> Mapping[str, Any]:
        """Count everything anew: {dialogs, sources}. SQL: desk_rebuild_rollups."""
        return self._db.rpc("desk_rebuild_rollups", {}, read=False, returns=dict)

    def _also_under(self, dialog_key: str, ru: str | None, tu: str | None) -> str | None:
        """The largest other dialog of the same pair, as the list names it."""
        if ru is None or tu is None:
            return None
        pair = {"ru_id": ru, "tu_id": tu}
        rows = self._db.sample("desk_dialogs", "dialog_key,chunks", order="dialog_key", limit=10, where=pair)
        others = [row for row in rows if row["chunks"] and row["dialog_key"] != dialog_key]
        return max(others, key=lambda row: row["chunks"])["dialog_key"] if others else None

    def _read(self, name: str, params: Mapping[str, Any], returns: type[T]) -> T:
        return self._db.rpc(name, params, read=True, returns=returns)


def _dialogs(answer: Mapping[str, Any]) -> DialogPage:
    return DialogPage(tuple(_dialog(row) for row in answer["rows"]), int(answer["total"]))


def _dialog(row: Mapping[str, Any]) -> DialogRow:
    return _known(DialogRow, {**row, "sources": row.get("sources") or {}})


def _chunk(row: Mapping[str, Any]) -> StoredChunk:
    lists = {"tags": tuple(row.get("tags") or ()), "flags": tuple(row.get("flags") or ())}
    return _known(StoredChunk, {**row, **lists, "metadata": row.get("metadata") or {}})


def _status(row: Mapping[str, Any]) -> DialogStatus:
    counts = row.get("counts") or {}
    return DialogStatus(
        last_note_at=row.get("lastNoteAt"),
        last_message_at=row.get("lastMessageAt"),
        profile_updated_at=row.get("profileUpdatedAt"),
        photo_updated_at=row.get("photoUpdatedAt"),
        last_ingest_at=row.get("lastIngestAt"),
        counts={source: int(counts.get(source) or 0) for source in SOURCES},
    )


def _known(cls: type[D], row: Mapping[str, Any]) -> D:
    """A dataclass from a row, columns it does not know left out: a hosted table may have more than we asked for."""
    return cls(**{name: row[name] for name in (f.name for f in fields(cls)) if name in row})
