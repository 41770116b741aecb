"""A job in the hands of one process: its way to tell how far it is, to be stopped, and to be taken up again."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from core.errors import DatabaseError
from core.jobs.job import Job
from core.jobs.store import JobStore, Progress

log = logging.getLogger(__name__)

WRITE_EVERY_S = 0.5  # progress is told more often than anybody can see
ASK_EVERY_S = 1.0


class Interrupted(Exception):
    """Ends a handler between two steps; what it did stays done."""


class Cancelled(Interrupted):
    """Somebody asked for it."""


class Stopped(Interrupted):
    """This process ends; another one goes on."""


class LeaseLost(Interrupted):
    """Another process has the job: this one was away for too long."""


class JobRun:
    """Given to a handler, and used by its thread alone but for `beat`, which the heart calls.

    `cursor` is what an earlier run saved, empty at first. `result` may be filled as the work goes on: a job that is
    stopped or fails shows it too. Handlers are idempotent: what lies behind the last `save` is done again.
    """

    def __init__(self, store: JobStore, job: Job, owner: str, lease_s: int, stopping: threading.Event) -> None:
        self.job = job
        self.params = job.params
        self.cursor: Mapping[str, Any] = dict(job.cursor)
        self.result: dict[str, Any] = {}
        self.attempts = job.attempts
        self._store = store
        self._owner = owner
        self._lease_s = lease_s
        self._stopping = stopping
        self._lock = threading.Lock()
        self._progress = Progress(job.done, job.total, job.message)
        self._state: str | None = job.state
        self._held = True
        self._at = time.monotonic() - ASK_EVERY_S  # what is told first is written at once

    def progress(self, done: int, total: int, message: str | None = None) -> None:
        """Tell how far it is; never fails. Without a message the last one stays."""
        words = self._progress.message if message is None else message
        self._progress = Progress(max(0, done), max(0, total), words)
        if time.monotonic() - self._at >= WRITE_EVERY_S:
            self.beat()

    def check(self) -> None:
        """To be called between two steps. Errors: Cancelled, Stopped, LeaseLost."""
        if time.monotonic() - self._at >= ASK_EVERY_S:
            self.beat()
        if not self._held:
            raise LeaseLost(self.job.id)
        if self._state == "cancelling":
            raise Cancelled(self.job.id)
        if self._stopping.is_set():
            raise Stopped(self.job.id)

    def save(self, cursor: Mapping[str, Any]) -> None:
        """Go on from here after a restart. Errors: DatabaseError, LeaseLost."""
        self.cursor = dict(cursor)
        self._write(replace(self._progress, cursor=self.cursor))
        self.attempts = 0
        if not self._held:
            raise LeaseLost(self.job.id)

    def beat(self) -> None:
        """Keep the lease alive and write the latest progress; a database that is away is met again at the next one."""
        try:
            self._write(self._progress)
        except DatabaseError as failure:
            log.warning("job %s: no heartbeat (%s)", self.job.id, failure.code)

    def told(self) -> Progress:
        """The progress that was told last."""
        return self._progress

    def _write(self, progress: Progress) -> None:
        with self._lock:
            self._at = time.monotonic()
            held, state = self._store.beat(self.job.id, self._owner, self._lease_s, progress)
            self._held, self._state = held, state


@contextmanager
def heart(run: JobRun, every_s: float) -> Iterator[None]:
    """Beats in a thread of its own, as one step may take longer than a lease."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(every_s):
            run.beat()

    thread = threading.Thread(target=beat, name="job heart", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
