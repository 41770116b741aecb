"""Start, watch and stop long work. What the kinds do is registered by whoever builds the process."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.access.roles import acting, may, permit, require
from core.db.client import Database
from core.errors import CoreError, NotFound
from core.events.actor import Actor, normalize_actor
from core.events.emitter import Events
from core.jobs.job import Job, JobPage, JobRunning
from core.jobs.place import place_of
from core.jobs.queue import OVERALL, check_room
from core.jobs.store import JobStore
from core.jobs.worker import LEASE_S, Handler, Kind, Worker

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0


class Jobs:
    """One per process, thread-safe. Kinds are registered before `work` begins."""

    def __init__(self, db: Database, events: Events, data_dir: Path, *, lease_s: int = LEASE_S) -> None:
        self._store = JobStore(db)
        self._events = events
        self._place = place_of(data_dir)
        self._kinds: dict[str, Kind] = {}
        self._chores: list[Callable[[], object]] = [self._store.prune]
        self._worker = Worker(
            self._store, self._kinds, self._place, lease_s=lease_s, hourly=self._tidy, ended=self._tell_end
        )

    def register(
        self,
        kind: str,
        handler: Handler,
        *,
        action: str,
        title: str,
        local: bool = False,
        ended: Callable[[Job], None] | None = None,
    ) -> None:
        """A kind of work by name. See Kind. Errors: ValueError for a name that is taken."""
        if kind in self._kinds:
            raise ValueError(f"there is a kind {kind!r} already")
        self._kinds[kind] = Kind(kind, handler, action, title, local, ended)

    def hourly(self, chore: Callable[[], object]) -> None:
        """Something to do about once an hour while this process takes jobs; a CoreError is logged."""
        self._chores.append(chore)

    def title(self, kind: str) -> str:
        """What a kind is called; the name itself for one of another version."""
        return self._kinds[kind].title if kind in self._kinds else kind

    def start(self, kind: str, params: Mapping[str, Any], *, key: str | None = None, id: str | None = None) -> Job:
        """Start a job, done as the current actor. `key`: what must not run twice at once. `id`: a UUID made when the
        form was drawn; a second call with it gives the job of the first.

        Errors: Forbidden, JobRunning (its `job` is the one that runs), QueueFull, DatabaseError.
        """
        known = self._kinds[kind]
        actor = acting()
        require(actor, known.action)
        check_room(self._store.list(live=True, limit=OVERALL).rows, actor, id)
        place = self._place if known.local else None
        outcome, job = self._store.start(id or str(uuid.uuid4()), kind, key, params, _starter(actor), place)
        if outcome == "busy":
            raise JobRunning(job)
        if outcome == "started":
            self._events.emit("JobStarted", {"job_id": job.id, "kind": kind}, record_id=job.id)
        self._worker.wake()
        return job

    def may_cancel(self, kind: str) -> bool:
        """Whether whoever acts may stop one of this kind."""
        return may(self._action(kind))

    def _action(self, kind: str) -> str:
        known = self._kinds.get(kind)
        return known.action if known else "jobs_cancel"

    def cancel(self, id: str) -> Job:
        """Ask it to stop between two steps; what it did stays done. Errors: Forbidden, NotFound, DatabaseError."""
        before = self.get(id)
        permit(self._action(before.kind))
        job = self._store.cancel(id)
        if job is None:
            raise _gone()
        if before.live and job.state in ("cancelling", "cancelled"):
            self._events.emit("JobCancelRequested", {"job_id": id, "kind": job.kind}, record_id=id)
            if job.state == "cancelled":
                self._worker.conclude(job)
        return job

    def get(self, id: str) -> Job:
        """Errors: NotFound, DatabaseError."""
        job = self._store.get(id) if _is_id(id) else None
        if job is None:
            raise _gone()
        return job

    def list(self, *, kind: str | None = None, live: bool | None = None, limit: int = 25, offset: int = 0) -> JobPage:
        """Newest first. Errors: DatabaseError."""
        return self._store.list(kind=kind, live=live, limit=limit, offset=offset)

    def work(self) -> None:
        """Take jobs in a thread of this process from now on."""
        self._worker.start()

    def finish_here(self, id: str, watch: Callable[[Job], None] | None = None) -> Job:
        """Do that job in this thread, or watch it where another process has it; the ended job.

        For a command line. Errors: NotFound, DatabaseError.
        """
        while True:
            self._worker.run_one(id)
            job = self.get(id)
            if watch:
                watch(job)
            if not job.live:
                return job
            time.sleep(LOOK_EVERY_S)

    def close(self) -> None:
        """Let go of a running job between two steps."""
        self._worker.close()

    def _tidy(self) -> None:
        for chore in self._chores:
            try:
                chore()
            except CoreError as failure:
                log.warning("a chore was not done (%s)", failure.code)
            except Exception as bug:
                log.error("a chore was not done: %s", type(bug).__name__)

    def _tell_end(self, job: Job) -> None:
        code = (job.error or {}).get("code")
        payload = {"job_id": job.id, "kind": job.kind, "state": job.state, "done": job.done, "total": job.total}
        self._events.emit("JobEnded", {**payload, "error": code}, record_id=job.id, actor=normalize_actor(job.actor))


def _is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


def _gone() -> NotFound:
    return NotFound("This job is not there.", hint="Jobs are kept for 30 days after their end.")


def _starter(actor: Actor) -> dict[str, Any]:
    """Who started it, with the roles of that moment: they are asked again inside, when the job runs."""
    return {**actor.as_json(), "roles": sorted(actor.roles)} if actor.roles else dict(actor.as_json())
