"""What the Snapshots page changes. Each acts once through core, under the one who sits here, and clears the reads."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from core.events import run_as
from core.jobs.job import JobRunning
from core.snapshots.retention import Expiry, Progress
from core.snapshots.verify import Verification
from pages._shared import reads, session
from pages._shared.resources import core


def pin(snapshot_id: str, reason: str, last_day: date) -> None:
    """Keep it to the end of that day (UTC), 90 days at most. Errors: CoreError."""
    end = datetime.combine(last_day, time.max, UTC)
    until = min(end, core().clock.now() + timedelta(days=90))
    with run_as(session.actor()):
        core().snapshots.pin(snapshot_id, reason, until)
    reads.refresh()


def unpin(snapshot_id: str) -> None:
    """Errors: CoreError."""
    with run_as(session.actor()):
        core().snapshots.unpin(snapshot_id)
    reads.refresh()


def preview() -> Expiry:
    """A fresh count, noted as a preview. Errors: CoreError."""
    with run_as(session.actor()):
        found = core().snapshots.preview()
    reads.refresh()
    return found


def cleanup(expired: int, press: str) -> str:
    """Start the deletion as a job; its id. The same press twice starts one, and one that runs is joined.
    Errors: CoreError."""
    try:
        with run_as(session.actor()):
            return core().cleanup.start(expired, id=press).id
    except JobRunning as running:
        return running.job.id


def stop(job_id: str) -> None:
    """Between two batches. Errors: CoreError."""
    with run_as(session.actor()):
        core().jobs.cancel(job_id)


def confirm_schedule(confirmed: bool, seen: Expiry) -> None:
    """Errors: CoreError."""
    with run_as(session.actor()):
        core().snapshots.confirm_schedule(confirmed, seen)
    reads.refresh()


def verify(day: date, dialog_key: str | None, progress: Progress) -> Verification:
    """Recompute the hashes of a day. Errors: CoreError."""
    with run_as(session.actor()):
        return core().snapshots.verify(
            day=day, dialog_key=dialog_key, progress=lambda n: progress(n, 0, f"{n:,} snapshots recomputed")
        )
