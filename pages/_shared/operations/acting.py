"""What the Operations page changes. Each acts once through core, as the one who is here, and forgets what is stale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TypeVar

from core.events import run_as
from core.jobs.job import Job
from core.services.intake import Staged
from pages._shared import session
from pages._shared.operations import reading
from pages._shared.resources import core

T = TypeVar("T")
WATCHED = "jobs.watched"
TOLD = "jobs.told"


def stage_files(files: Sequence[tuple[str, bytes]]) -> Staged:
    """Read and keep files; nothing is ingested. Errors: CoreError."""
    return _as_actor(lambda: core().intake.stage(files))


def stage_text(text: str) -> Staged:
    return _as_actor(lambda: core().intake.stage_text(text))


def stage_snapshot(dialog_key: str, day: str) -> Staged:
    """A day's snapshots of a dialog, matched with memory. Errors: CoreError."""
    label = f"snapshots of {day}"
    return _as_actor(
        lambda: core().intake.stage_body(label, core().snapshot_source.body(dialog_key, date.fromisoformat(day)).body)
    )


def discard_upload(sha: str) -> None:
    core().intake.discard(sha)


def start_ingest(held: Staged, *, windows: bool, capture: bool, form: str) -> Job:
    """Ingest an upload as a job; the same form twice is one job. Errors: JobRunning, CoreError."""
    return _watching(lambda: core().intake.start(held, windows=windows, capture=capture, id=form))


def start_reembed(dialog_key: str | None, *, confirmed: bool, form: str) -> Job:
    return _watching(lambda: core().reembed.start(dialog_key=dialog_key, confirmed=confirmed, id=form))


def start_recipe(target: str, *, form: str) -> Job:
    """Switch what is embedded; the same form twice is one job. Errors: AnotherWriter, JobRunning, CoreError."""
    return _watching(lambda: core().recipe.start(target, id=form))


def start_cleanup(expired: int, *, form: str) -> Job:
    return _watching(lambda: core().cleanup.start(expired, id=form))


def cancel_job(id: str) -> Job:
    return _as_actor(lambda: core().jobs.cancel(id))


def watched() -> tuple[str, ...]:
    """Jobs whose end this tab has still to tell."""
    return tuple(session.remembered(WATCHED, ()))


def watch(*ids: str) -> None:
    told = session.remembered(TOLD, ())  # a list of the running ones that is a second old still has them
    session.remember(WATCHED, tuple(dict.fromkeys((*watched(), *(id for id in ids if id not in told)))))


def unwatch(id: str) -> None:
    session.remember(TOLD, (*session.remembered(TOLD, ()), id)[-50:])
    session.remember(WATCHED, tuple(known for known in watched() if known != id))


def _watching(start: Callable[[], Job]) -> Job:
    job = _as_actor(start)
    watch(job.id)
    return job


def _as_actor(act: Callable[[], T]) -> T:
    try:
        with run_as(session.actor()):
            return act()
    finally:
        reading.forget()
