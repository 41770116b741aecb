"""The daily job at 03:30 local: each step by itself, once per local day. Source: spec/companion.md section 17."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.reflect.days import instant, local_today
from core.db.client import Database
from core.errors import CoreError, SchemaMismatch
from core.events.emitter import Events

log = logging.getLogger(__name__)

AT = time(3, 30)
LEASE_S = 900.0
# Steps that are registered under other names come last, in the order of their registration.
ORDER = ("prune", "goal periods", "streaks", "correlations", "facts", "expiry", "scan", "weekly")

DailyStep = Callable[[], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Run:
    """A step on a day: running, done or failed, with counts in `detail`."""

    job: str
    day: date
    status: str
    detail: Mapping[str, Any]
    attempts: int
    started_at: datetime
    finished_at: datetime | None


class Daily:
    """Thread-safe. Steps are registered before the first run; a step sums up to now, so that days missed need none."""

    def __init__(self, db: Database, events: Events, clock: Clock, zone: ZoneInfo) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._zone = zone
        self._owner = uuid.uuid4().hex
        self._steps: dict[str, DailyStep] = {}

    def register(self, name: str, step: DailyStep) -> None:
        """Do `step` once a day; what it returns (counts) is kept. Errors: ValueError for a name that is taken."""
        if name in self._steps:
            raise ValueError(f"there is a daily step {name!r} already")
        self._steps[name] = step

    def due_day(self) -> date:
        """The latest local day whose 03:30 has passed."""
        today = local_today(self._clock, self._zone)
        return today if self._clock.now() >= instant(today, AT, self._zone) else today - timedelta(days=1)

    def next_run(self) -> datetime:
        """When the next one is due, in the zone."""
        return instant(self.due_day() + timedelta(days=1), AT, self._zone).astimezone(self._zone)

    def run_due(self) -> list[str]:
        """Do the steps of the due day that nobody has done or is doing; those done here. Never raises for a step.

        Errors: DatabaseError while claiming.
        """
        day = self.due_day()
        done = {run.job for run in self.runs() if run.day == day and run.status == "done"}
        return [name for name in self._ordered() if name not in done and self._run(name, day)]

    def runs(self, limit: int = 100) -> tuple[Run, ...]:
        """The latest steps, newest first. Errors: DatabaseError."""
        rows = self._db.rpc("companion_job_runs_list", {"p_limit": limit}, read=True, returns=list)
        return tuple(
            Run(
                job=row["job"],
                day=date.fromisoformat(row["day"]),
                status=row["status"],
                detail=row["detail"],
                attempts=int(row["attempts"]),
                started_at=datetime.fromisoformat(row["started_at"]),
                finished_at=datetime.fromisoformat(row["finished_at"]) if row["finished_at"] else None,
            )
            for row in rows
        )

    def _ordered(self) -> list[str]:
        place = {name: n for n, name in enumerate(ORDER)}
        return sorted(self._steps, key=lambda name: place.get(name, len(ORDER)))

    def _run(self, name: str, day: date) -> bool:
        params = {"p_job": name, "p_day": day.isoformat(), "p_owner": self._owner}
        claim = self._db.rpc("companion_claim_run", params | {"p_lease_s": LEASE_S}, read=False, returns=dict)
        if not claim["held"]:
            return False
        status: str = "done"
        try:
            detail = dict(self._steps[name]() or {})
        except SchemaMismatch:
            status, detail = "failed", {"error": "needs_migration"}
        except CoreError as failure:
            status, detail = "failed", {"error": failure.code}
        except Exception as bug:
            log.error("the daily step %s failed (%s)", name, type(bug).__name__)
            status, detail = "failed", {"error": type(bug).__name__}
        self._db.rpc("companion_end_run", params | {"p_status": status, "p_detail": detail}, read=False)
        if status == "failed":
            failed = {"job": "daily", "step": name.replace(" ", "_"), "error_class": detail["error"], "day": day}
            self._events.emit("CompanionJobFailed", failed)
        return status == "done"


def prune(events: Events) -> dict[str, int]:
    """Take out what retention no longer keeps. Errors: DatabaseError."""
    deleted = events.store.prune()
    if deleted:
        events.emit("EventsPruned", {"deleted": deleted})
    return {"deleted": deleted}
