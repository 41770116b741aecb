"""All photos without words, as a job."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from core.jobs import JobRunning
from tests.core.photos.web import Web, ingest

if TYPE_CHECKING:
    from core.bootstrap import Core


def test_all_of_them_as_a_job(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """One after the other; what fails is counted and passed over, and the next run meets only that."""
    photos, fake = desk("ok", "safety", "ok")
    for n in range(4):
        ingest(core, web, f"k{n}", "/p.png" if n != 2 else "/gone.png")
    job = photos.start()
    with pytest.raises(JobRunning):
        photos.start()
    job = core.jobs.finish_here(job.id)
    assert job.state == "done" and job.result is not None
    assert job.result["described"] == 2 and sum(job.result["failed"].values()) == 2
    assert set(job.result["failed"]) == {"photo_unreachable", "vision_refused"}
    assert photos.waiting().total == 2 and len(fake.requests) == 3


def test_a_job_stops_when_it_is_not_the_photos(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """Five failures in a row that a retry might heal: the service is down, the rest is left for later."""
    photos, _ = desk(*[500] * 60)
    for n in range(7):
        ingest(core, web, f"k{n}")
    job = photos.start()
    core.jobs._worker.run_one(job.id)
    job = core.jobs.get(job.id)
    assert job.state != "done" and not job.cursor and photos.waiting().total == 7
