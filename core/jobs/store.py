"""The rows of jobs, through our functions alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.db.client import Database
from core.jobs.job import Job, JobPage, job_of

BEAT_TIMEOUT_S = 10.0
Outcome = Literal["started", "same", "busy"]


@dataclass(frozen=True)
class Progress:
    """What a process writes of a job that it holds; None leaves a value as it is."""

    done: int | None = None
    total: int | None = None
    message: str | None = None
    cursor: Mapping[str, Any] | None = None

    def params(self) -> dict[str, Any]:
        cursor = None if self.cursor is None else dict(self.cursor)
        return {"p_done": self.done, "p_total": self.total, "p_message": self.message, "p_cursor": cursor}


class JobStore:
    """Thread-safe, as its Database is. Errors of every call: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def start(
        self,
        id: str,
        kind: str,
        key: str | None,
        params: Mapping[str, Any],
        actor: Mapping[str, Any],
        place: str | None,
    ) -> tuple[Outcome, Job]:
        """SQL: desk_start_job."""
        answer = self._write(
            "desk_start_job",
            p_id=id,
            p_kind=kind,
            p_key=key,
            p_params=dict(params),
            p_actor=dict(actor),
            p_place=place,
        )
        return answer["outcome"], job_of(answer["job"])

    def claim(self, owner: str, kinds: Sequence[str], place: str, lease_s: int, id: str | None = None) -> Job | None:
        """The oldest job that nobody works on, or that one; None where there is none. SQL: desk_claim_job."""
        params = {"p_owner": owner, "p_kinds": list(kinds), "p_place": place, "p_lease_s": lease_s, "p_id": id}
        answer: Any = self._db.rpc("desk_claim_job", params, read=False)
        return job_of(answer) if isinstance(answer, dict) else None

    def beat(self, id: str, owner: str, lease_s: int, progress: Progress) -> tuple[bool, str | None]:
        """Whether the job is still this owner's, and its state. SQL: desk_beat_job."""
        params = {"p_id": id, "p_owner": owner, "p_lease_s": lease_s, **progress.params()}
        answer = self._db.rpc("desk_beat_job", params, read=False, returns=dict, timeout_s=BEAT_TIMEOUT_S)
        return bool(answer["held"]), answer["state"]

    def finish(
        self,
        id: str,
        owner: str,
        state: str,
        progress: Progress,
        *,
        result: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
        wait_s: int | None = None,
    ) -> Job | None:
        """The ended job, or None where it is no longer this owner's. SQL: desk_finish_job."""
        params = progress.params()
        params.pop("p_cursor")
        answer = self._write(
            "desk_finish_job",
            p_id=id,
            p_owner=owner,
            p_state=state,
            **params,
            p_result=None if result is None else dict(result),
            p_error=None if error is None else dict(error),
            p_wait_s=wait_s,
        )
        return job_of(answer["job"]) if answer["held"] else None

    def cancel(self, id: str) -> Job | None:
        """The job as it is then; None where there is none. SQL: desk_cancel_job."""
        answer = self._write("desk_cancel_job", p_id=id)
        return job_of(answer["job"]) if answer["found"] else None

    def list(self, *, kind: str | None = None, live: bool | None = None, limit: int = 25, offset: int = 0) -> JobPage:
        """SQL: desk_list_jobs."""
        return self._page(p_kind=kind, p_live=live, p_limit=limit, p_offset=offset)

    def get(self, id: str) -> Job | None:
        """SQL: desk_list_jobs."""
        rows = self._page(p_id=id, p_limit=1).rows
        return rows[0] if rows else None

    def prune(self, days: int = 30) -> int:
        """Delete jobs that ended so many days ago; how many went. SQL: desk_prune_jobs."""
        return int(self._write("desk_prune_jobs", p_days=days)["deleted"])

    def _page(self, **params: Any) -> JobPage:
        answer = self._db.rpc("desk_list_jobs", params, read=True, returns=dict)
        return JobPage(tuple(job_of(row) for row in answer["rows"]), int(answer["total"]), int(answer["live"]))

    def _write(self, name: str, **params: Any) -> dict[str, Any]:
        return self._db.rpc(name, params, read=False, returns=dict)
