"""A snapshot as it is written and as it is read. Source: spec/memory.md section 6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from core.canonical import content_hash

ENTITY_TYPES = ("profile", "photo", "note", "dialog")
MARKER = "daily_sync"  # written by the service that syncs, never by us
STATES = ("expired", "expiring", "without_expiry", "pinned")

D = TypeVar("D")


@dataclass(frozen=True)
class Snapshot:
    """One entity of one day, to be written. `source_role` is ru, tu or empty; `entity_at` ISO text or None."""

    dialog_key: str
    sync_date: str
    entity_type: str
    source_role: str
    source_id: str
    payload: Any
    ru_id: str | None = None
    tu_id: str | None = None
    family: str | None = None
    entity_at: str | None = None
    initiator: str | None = None
    text: str | None = None

    @property
    def identity(self) -> tuple[str, str, str, str, str]:
        return (self.dialog_key, self.sync_date, self.entity_type, self.source_role, self.source_id)

    def as_row(self) -> dict[str, Any]:
        """Every column, in each row alike, with the hash of the payload. Errors: ValueError for a value JSON lacks."""
        row = {f.name: getattr(self, f.name) for f in fields(self)}
        return {**row, "content_hash": content_hash(self.payload)}


@dataclass(frozen=True)
class StoredSnapshot:
    """A row as it stands. `ours`: this product wrote it and nobody else has since; times are ISO text."""

    id: str
    dialog_key: str
    sync_date: str
    entity_type: str
    source_role: str
    source_id: str
    payload: Any = None
    content_hash: str | None = None
    family: str | None = None
    ru_id: str | None = None
    tu_id: str | None = None
    entity_at: str | None = None
    initiator: str | None = None
    text: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    expires_at: str | None = None
    pinned_until: str | None = None
    pin_reason: str | None = None
    pin_actor: Mapping[str, Any] | None = None
    ours: bool = False


@dataclass(frozen=True)
class SnapshotPage:
    rows: tuple[StoredSnapshot, ...]
    total: int
    by_type: Mapping[str, int] = field(default_factory=dict)


def known(cls: type[D], row: Mapping[str, Any]) -> D:
    """A dataclass from a row, columns it does not know left out."""
    return cls(**{f.name: row[f.name] for f in fields(cls) if f.name in row})  # type: ignore[arg-type]
