"""The clean-up of expired snapshots as a job: progress, a stop between two batches, and how far it got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.jobs.run import JobRun
from core.services.snapshots import SnapshotService

KIND = "cleanup_snapshots"


class CleanupJob:
    """One per process. What a run deleted stays deleted; a job that is taken up again goes on counting from there."""

    def __init__(self, snapshots: SnapshotService, jobs: Jobs) -> None:
        self._snapshots = snapshots
        self._jobs = jobs
        jobs.register(KIND, self._run, action="snapshots_cleanup", title="Clean up snapshots")

    def start(self, expired: int, *, id: str | None = None) -> Job:
        """Delete what is expired; `expired` is what a preview counted. Errors: Forbidden, JobRunning, DatabaseError."""
        return self._jobs.start(KIND, {"expired": expired}, key=KIND, id=id)

    def _run(self, run: JobRun) -> Mapping[str, Any]:
        before = int(run.cursor.get("deleted", 0))
        run.result["deleted"] = before

        def progress(done: int, total: int, message: str) -> None:
            run.result["deleted"] = before + done
            run.progress(before + done, before + total, message)
            run.save({"deleted": before + done})

        found = self._snapshots.cleanup(progress=progress, check=run.check)
        return {"deleted": before + found.deleted, "by_type": dict(found.by_type), "cutoff": found.cutoff.isoformat()}
