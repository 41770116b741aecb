"""Pins: keep one snapshot beyond its expiry, with a reason, an actor and an end; each with its event."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.clock import Clock
from core.errors import InputError, NotFound
from core.events.emitter import Events
from core.snapshots.reads import SnapshotReads
from core.snapshots.store import SnapshotStore

PIN_DAYS = 90
REASON_LIMIT = 500


class SnapshotPins:
    """Whoever calls has asked whether the actor may. Thread-safe."""

    def __init__(self, store: SnapshotStore, reads: SnapshotReads, events: Events, clock: Clock) -> None:
        self._store = store
        self._reads = reads
        self._events = events
        self._clock = clock

    def pin(self, snapshot_id: str, reason: str, until: datetime) -> None:
        """The pin and its event in one transaction. Errors: InputError naming reason or until, NotFound."""
        why = " ".join(reason.split())
        now = self._clock.now()
        if not why or len(why) > REASON_LIMIT:
            raise InputError(f"A reason of 1 to {REASON_LIMIT} characters is needed.", field="reason")
        if not now < until <= now + timedelta(days=PIN_DAYS):
            raise InputError(f"The end of a pin lies within the next {PIN_DAYS} days.", field="until")
        event = self._events.prepare("SnapshotPinned", self._facts(snapshot_id, until), record_id=snapshot_id)
        if not self._store.pin(snapshot_id, why, until, event):
            raise _gone()
        self._events.announce(event)

    def unpin(self, snapshot_id: str) -> None:
        """Errors: NotFound where it is not pinned, or not there."""
        event = self._events.prepare("SnapshotUnpinned", self._facts(snapshot_id, None), record_id=snapshot_id)
        if not self._store.unpin(snapshot_id, event):
            raise NotFound("This snapshot is not pinned.", hint="Reload the page.")
        self._events.announce(event)

    def _facts(self, snapshot_id: str, until: datetime | None) -> dict[str, Any]:
        found = self._reads.get(snapshot_id) if _is_id(snapshot_id) else None
        if found is None:
            raise _gone()
        return {
            "snapshot_id": snapshot_id,
            "dialog_key": found.dialog_key,
            "entity_type": found.entity_type,
            "source_role": found.source_role or None,
            "sync_date": found.sync_date,
            "until": until.isoformat() if until else None,
        }


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _gone() -> NotFound:
    return NotFound("This snapshot is not there.", hint="It may have been deleted meanwhile; reload the page.")
