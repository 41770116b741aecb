"""Snapshots, for pages, API and command line: capture, compare, verify, pin, clean up; each change with its event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from core.access.roles import permit
from core.clock import Clock
from core.db.client import Database
from core.errors import ConflictError, CoreError, InputError
from core.events.emitter import Events
from core.memory.notices import Notice
from core.memory.payload import Normalised, normalise
from core.services.capture import DaySnapshots, read_snapshots, snapshots_of_ingest
from core.services.pins import SnapshotPins
from core.snapshots.diff import DaysDiff, DialogDiff
from core.snapshots.reads import SnapshotReads
from core.snapshots.retention import CleanupResult, Expiry, Progress, run_cleanup
from core.snapshots.schedule import DailyCleanup, Schedule
from core.snapshots.store import Captured, SnapshotStore
from core.snapshots.verify import Verification, verify

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CaptureResult:
    """What became of the snapshots of one request; rows of upstream are kept as they are and counted."""

    dialog_key: str
    sync_date: str
    captured: Captured
    notices: tuple[Notice, ...]

    def as_json(self) -> dict[str, Any]:
        """The answer of POST /snapshots."""
        return {
            "dialogKey": self.dialog_key,
            "syncDate": self.sync_date,
            "written": self.captured.written,
            "unchanged": self.captured.unchanged,
            "warnings": [{"field": n.field, "message": n.message} for n in self.notices],
        }


class SnapshotService:
    """One per process, thread-safe. Plain reads go through `reads`; the daily run through `daily.run_if_due`."""

    def __init__(self, db: Database, events: Events, clock: Clock, *, embedded: bool) -> None:
        self._db = db
        self._store = SnapshotStore(db)
        self._events = events
        self._clock = clock
        self.reads = SnapshotReads(db, clock)
        self._pins = SnapshotPins(self._store, self.reads, events, clock)
        self.daily = DailyCleanup(self._store, self._clean, clock, embedded=embedded)

    def capture(self, body: Mapping[str, Any]) -> CaptureResult:
        """Write what a request says about one dialog and day. Errors: InputError, MissingIdentity, DatabaseError."""
        _allow("snapshots_capture")
        return self._capture(read_snapshots(body, self._clock.now().date()))

    def capture_ingest(self, body: Mapping[str, Any], normalised: Normalised | None = None) -> CaptureResult | Notice:
        """Beside an ingest of the same body: a Notice instead of an error, since it must never fail the ingest."""
        try:
            _allow("snapshots_capture")
            return self._capture(snapshots_of_ingest(body, normalised or normalise(body), self._clock.now().date()))
        except CoreError as error:
            return Notice("snapshots", f"No snapshot was written. {error.what}")
        except Exception as bug:
            log.error("a snapshot was not written: %s", type(bug).__name__)
            return Notice("snapshots", "No snapshot was written: an error of the dashboard, the log has its kind.")

    def diff(self, dialog_key: str, day_from: date, day_to: date, *, limit: int = 500) -> DialogDiff:
        """One dialog between two days; the comparison is noted. Errors: DatabaseError."""
        _allow("snapshots")
        found = self.reads.diff(dialog_key, day_from, day_to, limit=limit)
        self._compared(found, dialog_key)
        return found

    def diff_days(self, day_from: date, day_to: date, *, limit: int = 25, offset: int = 0) -> DaysDiff:
        """All dialogs between two days; the comparison is noted. Errors: DatabaseError."""
        _allow("snapshots")
        found = self.reads.diff_days(day_from, day_to, limit=limit, offset=offset)
        if offset == 0:
            self._compared(found, None, day_from, day_to)
        return found

    def verify(
        self,
        *,
        day: date | None = None,
        dialog_key: str | None = None,
        progress: Callable[[int], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> Verification:
        """Recompute the hashes of a day, a dialog, or of all snapshots. Errors: DatabaseError."""
        _allow("snapshots")
        return verify(self._db, day=day, dialog_key=dialog_key, progress=progress, check=check)

    def pin(self, snapshot_id: str, reason: str, until: datetime) -> None:
        """Keep a snapshot until then, 90 days away at most. Errors: InputError naming reason or until, NotFound."""
        _allow("snapshots_pin")
        self._pins.pin(snapshot_id, reason, until)

    def unpin(self, snapshot_id: str) -> None:
        """Let go of it again. Errors: NotFound where it is not pinned."""
        _allow("snapshots_pin")
        self._pins.unpin(snapshot_id)

    def preview(self, cutoff: datetime | None = None) -> Expiry:
        """What a clean-up would delete now, or of what had expired by then. Noted as a look. Errors: DatabaseError."""
        _allow("snapshots")
        found = self.reads.expiry(cutoff)
        self._events.emit(
            "CleanupPreviewed",
            {
                "cutoff": found.cutoff,
                "expired": found.expired,
                "by_type": dict(found.by_type),
                "oldest": found.oldest,
                "pinned": found.pinned_expired,
                "without_expiry": found.without_expiry,
            },
        )
        return found

    def cleanup(
        self,
        *,
        limit: int | None = None,
        progress: Progress | None = None,
        check: Callable[[], None] | None = None,
    ) -> CleanupResult:
        """Delete expired snapshots in batches; `check` stops by raising. Errors: InputError (limit), DatabaseError."""
        _allow("snapshots_cleanup")
        if limit is not None and limit < 0:
            raise InputError("limit is negative.", hint="Leave it out to delete all that is expired.", field="limit")
        return self._clean(limit, progress, check)

    def cleanup_previewed(self, cutoff: datetime, expected: int) -> CleanupResult:
        """Delete what had expired by a preview's cutoff, where that is still as many snapshots as it counted.

        Errors: Forbidden, ConflictError where it is another number, DatabaseError.
        """
        _allow("snapshots_cleanup")
        found = self.reads.expiry(min(cutoff, self._clock.now()))
        if found.expired != expected:
            raise ConflictError(
                f"{found.expired:,} snapshots are expired now, {expected:,} were previewed: nothing was deleted.",
                hint="Make a preview again.",
            )
        return run_cleanup(
            self._store,
            self._events,
            cutoff=datetime.fromisoformat(found.cutoff),
            expired=expected,
            limit=expected,
        )

    def confirm_schedule(self, confirmed: bool, seen: Expiry) -> Schedule:
        """Say yes or no to the daily clean-up, after a look at a preview. Errors: DatabaseError."""
        _allow("snapshots_cleanup")
        event = self._events.prepare("CleanupScheduleChanged", {"confirmed": confirmed, "expired": seen.expired})
        self._store.confirm(confirmed, event)
        self._events.announce(event)
        return self.daily.state()

    def catch_up(self) -> int:
        """Note the hashes that the ledger lacks; how many there were. Errors: DatabaseError."""
        _allow("snapshots_cleanup")
        done = self._store.catch_up()
        return done.added + done.corrected

    def _clean(
        self,
        limit: int | None = None,
        progress: Progress | None = None,
        check: Callable[[], None] | None = None,
    ) -> CleanupResult:
        found = self.reads.expiry()
        return run_cleanup(
            self._store,
            self._events,
            cutoff=datetime.fromisoformat(found.cutoff),
            expired=found.expired,
            limit=limit,
            progress=progress,
            check=check,
        )

    def _capture(self, day: DaySnapshots) -> CaptureResult:
        captured = self._store.capture(day.rows)
        notices = day.notices
        if captured.kept:
            what = f"Rows that upstream wrote with another content, kept as they are: {captured.kept:,}."
            notices = (*notices, Notice("snapshots", what, count=captured.kept))
        if day.rows:
            types = [row.entity_type for row in day.rows]
            self._events.emit(
                "SnapshotsCaptured",
                {
                    "dialog_key": day.dialog_key,
                    "sync_date": day.sync_date,
                    "by_type": {kind: types.count(kind) for kind in dict.fromkeys(types)},
                    "inserted": captured.inserted,
                    "updated": captured.updated,
                    "unchanged": captured.unchanged,
                    "kept": captured.kept,
                    "warnings": len(notices),
                },
                record_id=day.dialog_key,
            )
        return CaptureResult(day.dialog_key, day.sync_date, captured, notices)

    def _compared(
        self,
        found: DialogDiff | DaysDiff,
        dialog_key: str | None,
        day_from: date | None = None,
        day_to: date | None = None,
    ) -> None:
        days = (found.day_from, found.day_to) if isinstance(found, DialogDiff) else (str(day_from), str(day_to))
        counts = {"added": found.added, "removed": found.removed, "changed": found.changed}
        payload = {"dialog_key": dialog_key, "date_a": days[0], "date_b": days[1], **counts}
        self._events.emit("SnapshotsCompared", payload, record_id=dialog_key)


def _allow(action: str) -> None:
    permit(action)
