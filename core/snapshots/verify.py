"""Is the stored hash that of the stored payload? Recomputed row by row, from what the database gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from core.canonical import content_hash
from core.db.client import Database

COLUMNS = "id,dialog_key,sync_date,entity_type,source_role,source_id,payload,content_hash"
LISTED = 200


@dataclass(frozen=True)
class Mismatch:
    """A row whose hash is not that of its payload; `recomputed` is None where the payload has no hash."""

    id: str
    dialog_key: str
    sync_date: str
    entity_type: str
    source_role: str
    source_id: str
    stored: str | None
    recomputed: str | None


@dataclass(frozen=True)
class Verification:
    """`differing` names the first 200 of `differ` rows; `without_hash` rows claim none and are not among them."""

    checked: int
    differ: int
    without_hash: int
    differing: tuple[Mismatch, ...]

    @property
    def equal(self) -> int:
        return self.checked - self.differ - self.without_hash


def verify(
    db: Database,
    *,
    day: date | None = None,
    dialog_key: str | None = None,
    progress: Callable[[int], None] | None = None,
    check: Callable[[], None] | None = None,
) -> Verification:
    """Every snapshot, or those of a day or a dialog. `progress(rows so far)`; `check` stops by raising.

    Errors: DatabaseError, and whatever `check` raises.
    """
    where: dict[str, Any] = {}
    if day is not None:
        where["sync_date"] = day.isoformat()
    if dialog_key is not None:
        where["dialog_key"] = dialog_key
    checked = differ = without = 0
    named: list[Mismatch] = []
    for page in db.pages("tips_daily_entity_snapshots", COLUMNS, where=where):
        if check is not None:
            check()
        for row in page:
            stored, recomputed = row["content_hash"], hash_of(row["payload"])
            without += stored is None
            if stored is not None and stored != recomputed:
                differ += 1
                if len(named) < LISTED:
                    whose = {name: row[name] for name in COLUMNS.split(",")[:6]}
                    named.append(Mismatch(**whose, stored=stored, recomputed=recomputed))
        checked += len(page)
        if progress is not None:
            progress(checked)
    return Verification(checked, differ, without, tuple(named))


def hash_of(payload: Any) -> str | None:
    """The canonical hash; None for a payload that is too deep or too large a number for one."""
    try:
        return content_hash(payload)
    except (ValueError, OverflowError, RecursionError):
        return None
