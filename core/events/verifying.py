"""The chain of hashes from its beginning to its end, slice by slice, so that somebody can watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.events.store import EventStore, StoredEvent

SLICE = 5000


@dataclass(frozen=True)
class Verified:
    """`checked` events looked at; the first fault: which row (its event is None where missing), and what is wrong."""

    ok: bool
    checked: int
    bad_seq: int | None = None
    reason: str | None = None
    bad_event: StoredEvent | None = None


def verify_chain(
    store: EventStore, progress: Callable[[int, int], None] | None = None, *, size: int = SLICE
) -> Verified:
    """Up to the first fault. `progress(checked, events)` after each slice. Errors: DatabaseError."""
    checked = 0
    at: int | None = None
    while True:
        part = store.verify(at, limit=size)
        checked += part.checked
        if not part.ok:
            return Verified(False, checked, part.first_bad_seq, part.reason, _row(store, part.first_bad_seq))
        if progress:
            progress(checked, max(part.events, checked))
        if part.next_seq is None:
            return Verified(True, checked)
        at = part.next_seq


def _row(store: EventStore, seq: int | None) -> StoredEvent | None:
    if seq is None:
        return None
    found = store.find(before_seq=seq + 1, limit=1).rows
    return found[0] if found and found[0].seq == seq else None
