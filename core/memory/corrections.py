"""Chunks taken out of the memory and put back; superseded ones; what corrections ask of a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.db.client import Database
from core.events.event import Event

Kind = Literal["excluded", "deleted"]
# One word each, as events hold words alone.
REASONS: Mapping[str, str] = {
    "wrong_dialog": "belongs to another dialog",
    "stale": "no longer true",
    "irrelevant": "does not help",
    "duplicate": "stands twice",
    "sensitive": "must not reach a prompt",
    "other": "another reason",
}
BATCH = 500
TAKE_OUT_S = 65.0


@dataclass(frozen=True)
class ExcludedChunk:
    """A chunk that was taken out. Without `id` only the tombstone is left: its text is gone for good.

    `revived`: another writer brought it back since. `keep_until`: the end of the undo, None while it stays.
    """

    dialog_key: str
    content_hash: str
    kind: str
    reason: str
    at: str
    source: str
    id: str | None = None
    keep_until: str | None = None
    source_id: str | None = None
    text: str | None = None
    note_date: str | None = None
    sent_at: str | None = None
    revived: bool = False


@dataclass(frozen=True)
class ExcludedPage:
    rows: tuple[ExcludedChunk, ...]
    total: int
    revived: int


@dataclass(frozen=True)
class SupersededChunk:
    """A chunk beside the newest text that replaced it."""

    id: str
    dialog_key: str
    source: str
    source_id: str
    text: str
    updated_at: str | None
    newer_text: str | None
    newer_at: str | None


@dataclass(frozen=True)
class SupersededPage:
    rows: tuple[SupersededChunk, ...]
    total: int
    dialogs: int
    by_source: Mapping[str, int]


@dataclass(frozen=True)
class TakenOut:
    """`missing`: ids that no chunk has any more."""

    count: int
    dialogs: int
    missing: int = 0


@dataclass(frozen=True)
class Restored:
    """`present`: chunks that stood there again already; `lifted`: tombstones whose text is gone."""

    restored: int
    present: int
    lifted: int
    missing: int


@dataclass(frozen=True)
class CorrectionState:
    """`reopened` is [{id, kept_key, dropped_key, chunks}], `written_again` [{id, erased_at, dialog_key, tables}]."""

    tombstones: int
    revived: int
    revived_dialogs: tuple[str, ...]
    reopened: tuple[Mapping[str, Any], ...]
    erasures: int
    written_again: tuple[Mapping[str, Any], ...]


class CorrectionStore:
    """Source: SQL functions desk_{exclude,restore}_chunks, desk_excluded, desk_superseded_preview,
    desk_delete_superseded, desk_corrections_state. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def exclude(self, ids: Sequence[str], kind: Kind, reason: str, event: Event) -> TakenOut:
        """Take chunks out, 1,000 at most, with tombstones and the event, in one transaction."""
        params = {"p_ids": [*ids], "p_kind": kind, "p_reason": reason, "p_event": event.row()}
        answer = self._db.rpc("desk_exclude_chunks", params, read=False, returns=dict, timeout_s=TAKE_OUT_S)
        return TakenOut(int(answer["count"]), int(answer["dialogs"]), int(answer["missing"]))

    def restore(self, ids: Sequence[str], event: Event, *, dialog_key: str | None, hashes: Sequence[str]) -> Restored:
        """Put chunks back as they were; of a dialog, lift tombstones by hash."""
        params = {"p_ids": [*ids], "p_dialog_key": dialog_key, "p_hashes": [*hashes], "p_event": event.row()}
        answer = self._db.rpc("desk_restore_chunks", params, read=False, returns=dict, timeout_s=TAKE_OUT_S)
        return Restored(*(int(answer[name]) for name in ("restored", "present", "lifted", "missing")))

    def excluded(self, dialog_key: str | None = None, *, limit: int = 25, offset: int = 0) -> ExcludedPage:
        """What was taken out, newest first."""
        params = {"p_dialog_key": dialog_key, "p_limit": limit, "p_offset": offset}
        answer = self._db.rpc("desk_excluded", params, read=True, returns=dict)
        rows = tuple(ExcludedChunk(**row) for row in answer["rows"])
        return ExcludedPage(rows, int(answer["total"]), int(answer["revived"]))

    def superseded(self, dialog_key: str | None = None, *, limit: int = 25, offset: int = 0) -> SupersededPage:
        """Superseded chunks of one dialog or of all, by dialog, source and source_id."""
        params = {"p_dialog_key": dialog_key, "p_limit": limit, "p_offset": offset}
        answer = self._db.rpc("desk_superseded_preview", params, read=True, returns=dict, timeout_s=TAKE_OUT_S)
        rows = tuple(SupersededChunk(**row) for row in answer["rows"])
        return SupersededPage(rows, int(answer["total"]), int(answer["dialogs"]), dict(answer["by_source"]))

    def delete_superseded(self, ids: Sequence[str] | None, dialog_key: str | None, event: Event) -> TakenOut:
        """One batch of superseded chunks, each judged again; `ids` None takes the next ones."""
        params = {
            "p_ids": None if ids is None else [*ids],
            "p_dialog_key": dialog_key,
            "p_limit": BATCH,
            "p_event": event.row(),
        }
        answer = self._db.rpc("desk_delete_superseded", params, read=False, returns=dict, timeout_s=TAKE_OUT_S)
        return TakenOut(int(answer["deleted"]), int(answer["dialogs"]))

    def state(self) -> CorrectionState:
        """What came back, and what is written again although it was merged away or erased."""
        answer = self._db.rpc("desk_corrections_state", {}, read=True, returns=dict)
        return CorrectionState(
            tombstones=int(answer["tombstones"]),
            revived=int(answer["revived"]),
            revived_dialogs=tuple(answer["revived_dialogs"]),
            reopened=tuple(answer["reopened"]),
            erasures=int(answer["erasures"]),
            written_again=tuple(answer["written_again"]),
        )
