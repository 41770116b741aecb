"""Erasing a person from the database: preview, act, the records of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.db.client import Database
from core.events.event import Event

ERASE_S = 125.0  # above the 120 s that the functions give themselves
REASONS: Mapping[str, str] = {
    "request": "the person asked for it",
    "legal": "a legal duty",
    "mistake": "stored by mistake",
    "test": "test data",
    "other": "another reason",
}


@dataclass(frozen=True)
class ErasePreview:
    """Rows by table under `keys`: the dialog's own and those merged with it. `others`: further keys of the same pair,
    [{dialog_key, chunks}], which stay unless they are named too. `erased_at`: it was erased before."""

    keys: tuple[str, ...]
    tables: Mapping[str, int]
    ru_id: str | None
    tu_id: str | None
    others: tuple[Mapping[str, Any], ...]
    erased_at: str | None

    @property
    def rows(self) -> int:
        return sum(self.tables.values())


@dataclass(frozen=True)
class ErasedRows:
    """`pairs` are `ru:tu`, for those who look for the person elsewhere. None of it may be kept."""

    found: bool
    erasure_id: str | None
    keys: tuple[str, ...]
    pairs: tuple[str, ...]
    tables: Mapping[str, int]


@dataclass(frozen=True)
class ErasureRecord:
    """What is left of an erasure."""

    id: str
    reason: str
    actor: Mapping[str, Any]
    erased_at: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class ErasurePage:
    rows: tuple[ErasureRecord, ...]
    total: int


class ErasureStore:
    """Source: SQL functions desk_erase_preview, desk_erase_dialog, desk_forget_statistics, desk_erasure_list."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def preview(self, dialog_key: str, also: Sequence[str] = ()) -> ErasePreview:
        """Errors: DatabaseError."""
        params = {"p_dialog_key": dialog_key, "p_also": [*also]}
        answer = self._db.rpc("desk_erase_preview", params, read=True, returns=dict, timeout_s=ERASE_S)
        return ErasePreview(
            keys=tuple(answer["keys"]),
            tables=dict(answer["tables"]),
            ru_id=answer["ru_id"],
            tu_id=answer["tu_id"],
            others=tuple(answer["others"]),
            erased_at=answer["erased_at"],
        )

    def erase(self, dialog_key: str, reason: str, event: Event, also: Sequence[str] = ()) -> ErasedRows:
        """One transaction, with its event. Errors: DatabaseError; then nothing was erased."""
        params = {"p_dialog_key": dialog_key, "p_reason": reason, "p_event": event.row(), "p_also": [*also]}
        answer = self._db.rpc("desk_erase_dialog", params, read=False, returns=dict, timeout_s=ERASE_S)
        return ErasedRows(
            found=answer["outcome"] == "done",
            erasure_id=answer.get("erasure_id"),
            keys=tuple(answer.get("keys") or (dialog_key, *also)),
            pairs=tuple(answer.get("pairs") or ()),
            tables=dict(answer.get("tables") or {}),
        )

    def forget_statistics(self) -> int:
        """Sample the columns anew; how many tables have to wait for the database to do so. Errors: DatabaseError."""
        answer = self._db.rpc("desk_forget_statistics", {}, read=False, returns=dict, timeout_s=ERASE_S)
        return int(answer["waiting"])

    def list(self, *, limit: int = 25, offset: int = 0) -> ErasurePage:
        """Newest first. Errors: DatabaseError."""
        answer = self._db.rpc("desk_erasure_list", {"p_limit": limit, "p_offset": offset}, read=True, returns=dict)
        return ErasurePage(tuple(ErasureRecord(**row) for row in answer["rows"]), int(answer["total"]))
