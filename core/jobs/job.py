"""A job as it stands in its row, and what can be told from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from core.errors import ConflictError

State = Literal["queued", "running", "cancelling", "cancelled", "failed", "done"]
LIVE: frozenset[State] = frozenset({"queued", "running", "cancelling"})


@dataclass(frozen=True)
class Job:
    """`done` of `total` steps, whatever a step is to this kind; total 0 while nobody knows. Moments are the database's.

    `free`: alive, and nobody works on it: it waits, or the process that had it is gone.
    `params`, `cursor`, `result` and `error` hold counts, hashes, keys and codes; no text, no name of a file.
    """

    id: str
    kind: str
    state: State
    key: str | None = None
    done: int = 0
    total: int = 0
    message: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    cursor: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    actor: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    heartbeat: datetime | None = None
    claimed_at: datetime | None = None
    claimed_done: int = 0
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    free: bool = False

    @property
    def live(self) -> bool:
        """Queued, running, or being stopped."""
        return self.state in LIVE

    @property
    def fraction(self) -> float:
        """0 to 1; 0 while the total is not known."""
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0

    @property
    def rate_per_s(self) -> float | None:
        """Steps a second since this process took the job; None before the first step."""
        if self.claimed_at is None or self.heartbeat is None or self.done <= self.claimed_done:
            return None
        seconds = (self.heartbeat - self.claimed_at).total_seconds()
        return (self.done - self.claimed_done) / seconds if seconds > 0 else None

    @property
    def remaining_s(self) -> float | None:
        """An estimate: the steps left at the rate so far. None unless it runs and the rate is known."""
        rate = self.rate_per_s
        if self.state != "running" or self.free or rate is None or self.total <= 0:
            return None
        return max(0, self.total - self.done) / rate


@dataclass(frozen=True)
class JobPage:
    """Newest first. `total`: of all pages; `live`: queued or running jobs of every kind."""

    rows: tuple[Job, ...]
    total: int
    live: int


class JobRunning(ConflictError):
    """The same thing runs already; `job` is the one that does."""

    code = "job_running"

    def __init__(self, job: Job) -> None:
        super().__init__(
            "This runs already: nothing was started.",
            hint="Watch that job on the Operations page, or stop it first.",
            detail=f"job {job.id}",
        )
        self.job = job


MOMENTS = ("heartbeat", "claimed_at", "created_at", "started_at", "finished_at")
NAMES = tuple(Job.__dataclass_fields__)


def job_of(row: Mapping[str, Any]) -> Job:
    """From a row as the database writes it. Errors: ValueError for a state that does not exist."""
    values = {name: row[name] for name in NAMES if name in row}
    if values.get("state") not in get_args(State):
        raise ValueError("no state of a job")
    for name in MOMENTS:
        at = values.get(name)
        values[name] = datetime.fromisoformat(at) if isinstance(at, str) else at
    return Job(**values)
