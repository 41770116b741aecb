"""One thread per process that takes jobs, one at a time, and ends each in one of the ways there are."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.access.roles import granted, require
from core.errors import CoreError, DatabaseError, SchemaMismatch
from core.events.actor import normalize_actor, run_as
from core.jobs.job import LIVE, Job
from core.jobs.run import Cancelled, JobRun, LeaseLost, Stopped, heart
from core.jobs.store import JobStore

log = logging.getLogger(__name__)

LEASE_S = 30
# A job started in this process wakes the thread. The waits are for those of a process that died: soon after a start,
# when its lease is over, then seldom.
IDLE_S = (20.0, 15.0, 20.0, 60.0)
HEART_S = 2.0  # as often as a page looks, so that the last word of a quick run is not kept back
MAX_ATTEMPTS = 5
HOUR_S = 3600.0

Handler = Callable[[JobRun], Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """What a name stands for. `action`: what one must be allowed to do. `local`: it needs files of this data folder.
    `ended` is called once a job of it is over, however it ended."""

    name: str
    handler: Handler
    action: str
    title: str
    local: bool = False
    ended: Callable[[Job], None] | None = None


class Worker:
    """`owner` names this process; every claim has a name of its own below it."""

    def __init__(
        self,
        store: JobStore,
        kinds: Mapping[str, Kind],
        place: str,
        *,
        lease_s: int = LEASE_S,
        hourly: Callable[[], None] | None = None,
        ended: Callable[[Job], None] | None = None,
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._place = place
        self._lease_s = lease_s
        self._hourly = hourly
        self._ended = ended
        self._owner = uuid.uuid4().hex
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to take jobs, those of processes that died first."""
        if self._thread is None and not self._stopping.is_set():
            self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def close(self, timeout_s: float = 10.0) -> None:
        """Stop between two steps; a job in hand goes back into the queue."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def run_one(self, id: str | None = None) -> Job | None:
        """Take a job (the one with that id) and do it in this thread; None where there is none to take.

        Errors: DatabaseError while claiming; what happens afterwards is the job's.
        """
        owner = f"{self._owner}:{uuid.uuid4().hex[:12]}"
        job = self._store.claim(owner, list(self._kinds), self._place, self._lease_s, id)
        if job is None:
            return None
        run = JobRun(self._store, job, owner, self._lease_s, self._stopping)
        with heart(run, min(HEART_S, self._lease_s / 5)):
            ended = self._do(run, owner)
        if ended is not None and ended.state not in LIVE:
            self.conclude(ended)
        return ended

    def conclude(self, job: Job) -> None:
        """What comes after the end of a job: its kind clears up."""
        for hook in (self._kinds[job.kind].ended if job.kind in self._kinds else None, self._ended):
            if hook is None:
                continue
            try:
                hook(job)
            except Exception as bug:
                log.error("job %s: not cleared up (%s)", job.id, type(bug).__name__)

    def _do(self, run: JobRun, owner: str) -> Job | None:
        kind = self._kinds[run.job.kind]
        state, result, error, wait_s = "done", None, None, None
        actor = normalize_actor(run.job.actor)
        try:
            # Who started it was asked then; an AI may do by a job what it was let do, and nothing else.
            with run_as(actor), granted(kind.action):
                run.check()
                require(actor, kind.action)
                result = kind.handler(run)
        except LeaseLost:
            log.warning("job %s went to another process", run.job.id)
            return None
        except Cancelled:
            state = "cancelled"
        except Stopped:
            state = "queued"
        except CoreError as failure:
            error = _error(failure)
            again = failure.retryable and run.attempts < MAX_ATTEMPTS
            state, wait_s = ("queued", 5 * 2**run.attempts) if again else ("failed", None)
        except Exception as bug:
            log.error("job %s: %s", run.job.id, _where(bug))
            state, error = "failed", {"code": "internal", "class": type(bug).__name__}
        shown = dict(result if result is not None else run.result) or None
        return self._finish(run, owner, state, shown, error, wait_s)

    def _finish(
        self,
        run: JobRun,
        owner: str,
        state: str,
        result: Mapping[str, Any] | None,
        error: Mapping[str, Any] | None,
        wait_s: int | None,
    ) -> Job | None:
        """Where the database stays away the lease runs out, and whoever comes next finds the work done or does it."""
        for pause_s in (0.0, 1.0, 4.0):
            self._stopping.wait(pause_s)
            try:
                return self._store.finish(
                    run.job.id, owner, state, run.told(), result=result, error=error, wait_s=wait_s
                )
            except DatabaseError as failure:
                log.warning("job %s: its end was not written (%s)", run.job.id, failure.code)
        return None

    def _work(self) -> None:
        idle, hour_at = 0, time.monotonic()
        while not self._stopping.is_set():
            self._wake.clear()
            pause_s = IDLE_S[min(idle, len(IDLE_S) - 1)]
            idle += 1
            try:
                if self.run_one() is not None:
                    idle = 0
                    continue
            except SchemaMismatch:
                pause_s = IDLE_S[-1]  # the migration is still to come
            except DatabaseError as failure:
                log.warning("no job could be taken (%s)", failure.code)
            except Exception as bug:
                log.error("no job could be taken: %s", _where(bug))
            if self._hourly is not None and time.monotonic() - hour_at > HOUR_S:
                hour_at = time.monotonic()
                self._hourly()
            if self._wake.wait(pause_s):
                idle = 0


def _error(failure: CoreError) -> dict[str, Any]:
    # Without the hint of a database error: it may be Postgres's own.
    hint = "" if isinstance(failure, DatabaseError) else failure.hint
    parts = {"code": failure.code, "what": failure.what, "hint": hint, "field": failure.field}
    return {name: value for name, value in parts.items() if value}


def _where(bug: Exception) -> str:
    """Class and places; never the message, which may hold a text of a dialog."""
    step, places = bug.__traceback__, []
    while step is not None:
        places.append(f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}")
        step = step.tb_next
    return f"{type(bug).__name__} at {' > '.join(places[-6:])}"
