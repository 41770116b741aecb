"""Letting go of expired snapshots: counted first, then deleted in batches, each a transaction with its event."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.events.emitter import Events
from core.snapshots.store import CLEANUP_BATCH, SnapshotStore

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Expiry:
    """Rows by their expiry; times are ISO text. Expired means before `cutoff`: exactly at it is not yet past.

    `expired`, `by_type` and `oldest` are what clean-up would delete; pinned rows and rows without an expiry are
    never among them.
    """

    cutoff: str
    expired: int
    by_type: Mapping[str, int] = field(default_factory=dict)
    oldest: str | None = None
    pinned: int = 0
    pinned_expired: int = 0
    expiring_24h: int = 0
    without_expiry: int = 0
    without_by_type: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    first_day: str | None = None
    last_day: str | None = None
    ledger_faults: int = 0


@dataclass(frozen=True)
class CleanupResult:
    """What a run deleted; each batch was complete in itself."""

    cutoff: datetime
    deleted: int
    by_type: Mapping[str, int]
    batches: int
    duration_ms: float


def run_cleanup(
    store: SnapshotStore,
    events: Events,
    *,
    cutoff: datetime,
    expired: int,
    limit: int | None = None,
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
) -> CleanupResult:
    """Delete rows whose expiry lies before `cutoff`, at most `limit` of them, pinned ones never.

    `check` is called before every batch and stops the run by raising, as may `progress`; what was deleted until then
    stays deleted, and the event CleanupRan says how far it got. `progress(done, total, message)`; `expired` is the
    total to expect.
    Errors: DatabaseError, and whatever `check` raises.
    """
    began = time.perf_counter()
    run, deleted, count = str(uuid.uuid4()), 0, 0
    by_type: Counter[str] = Counter()
    total = expired if limit is None else min(expired, limit)
    outcome = "failed"
    try:
        while limit is None or deleted < limit:
            outcome = "stopped"
            if check is not None:
                check()
            outcome = "failed"
            size = CLEANUP_BATCH if limit is None else min(CLEANUP_BATCH, limit - deleted)
            event = events.prepare("SnapshotsDeleted", {"run_id": run})
            gone, kinds = store.cleanup_batch(cutoff, size, event)
            if not gone:
                break
            events.announce(event)
            count += 1
            deleted += gone
            by_type.update(kinds)
            outcome = "stopped"  # whoever shows the progress may stop the run from there too
            if progress is not None:
                progress(deleted, max(total, deleted), f"{deleted:,} expired snapshots deleted")
        outcome = "done"
    finally:
        duration = round((time.perf_counter() - began) * 1000, 1)
        events.emit(
            "CleanupRan",
            {
                "run_id": run,
                "cutoff": cutoff.isoformat(),
                "deleted": deleted,
                "by_type": dict(by_type),
                "batches": count,
                "duration_ms": duration,
                "failed": outcome == "failed",
                "stopped": outcome == "stopped",
            },
        )
    return CleanupResult(cutoff, deleted, dict(by_type), count, duration)
