"""Every photo without words, one after the other, as a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.errors import BadEmbedding, CoreError, DatabaseError, ProviderMissing
from core.jobs.run import JobRun
from core.photos.vision import VisionMissing

if TYPE_CHECKING:
    from core.photos.service import PhotoService

# After so many failures one behind the other it is not the photos.
IN_A_ROW = 5


def describe_all(photos: PhotoService, run: JobRun) -> Mapping[str, Any]:
    """One photo after the other by id; what fails is counted and passed over. A row of failures that a retry might
    heal is not saved: whoever takes the job up again begins before it."""
    photos.ready()
    after = run.cursor.get("after")
    done = int(run.cursor.get("done", 0))
    failed: dict[str, int] = dict(run.cursor.get("failed", {}))
    in_a_row = 0
    page = photos.waiting(after=after)
    total = done + page.total  # those that failed before still have no words
    while page.rows:
        for photo in page.rows:
            run.check()
            passing = False
            try:
                photos.describe(photo)
                done, in_a_row = done + 1, 0
            except (BadEmbedding, ProviderMissing, VisionMissing, DatabaseError):
                raise  # not this photo's fault
            except CoreError as failure:
                failed[failure.code] = failed.get(failure.code, 0) + 1
                passing = failure.retryable
                in_a_row = in_a_row + 1 if passing else 0
                if in_a_row >= IN_A_ROW:
                    raise
            run.result = {"described": done, "failed": dict(failed)}
            if not passing:
                run.save({"after": photo.id, "done": done, "failed": dict(failed)})
            run.progress(done + sum(failed.values()), total, f"{sum(failed.values())} could not be described")
        page = photos.waiting(after=page.rows[-1].id)
    return {"described": done, "failed": failed}
