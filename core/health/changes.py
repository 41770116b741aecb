"""Events and the webhook for what changed and stayed so; a report like the one before tells nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from core.db.client import Database
from core.errors import CoreError
from core.events.actor import system
from core.events.emitter import Events
from core.health.report import ASIDE, HealthReport, Status
from core.health.settle import Change, Settled

log = logging.getLogger(__name__)
OVERALL = "overall"
_ACTOR = system("bootstrap")
_SETTLE_S = 3.0

Tell = Callable[[Change, HealthReport], None]


class Changes:
    """Tells HealthDegraded, HealthRecovered, NeedsMigrationDetected and DestructiveMigrationFlagged, each once.

    Only settled changes (settle.py) are told, and of several processes on one database one tells each: the states stand
    in desk_health_states. While the database is away each process tells for itself. Not thread-safe.
    """

    def __init__(self, events: Events, db: Database | None = None, overall: Tell | None = None) -> None:
        self._events = events
        self._db = db
        self._overall = overall
        self._settled = Settled()
        self._taken_up = False
        self._alone: set[str] = set()  # told without the database, which therefore does not know
        self._destructive: set[str] | None = None

    @property
    def unsettled(self) -> bool:
        return self._settled.unsettled

    def see(self, report: HealthReport) -> None:
        """Take in a report, and tell what it completes."""
        known = {component.name: component.status for component in report.components if component.name not in ASIDE}
        seen: dict[str, Status] = {**known, OVERALL: report.status}
        self._take_up(seen, report.checked_at)
        changes = [c for name, status in seen.items() if (c := self._settled.see(name, status, report.checked_at))]
        for change in self._news(changes):
            if change.name == OVERALL:
                if self._overall:
                    self._overall(change, report)
            else:
                self._tell(change)
        self._flag_destructive(report)

    def _take_up(self, seen: Mapping[str, Status], at: datetime) -> None:
        """Once: the states that an earlier process settled, so that a restart neither hides a change nor repeats it."""
        if self._db is None or self._taken_up:
            return
        marks = [_row(name, status, at) for name, status in seen.items() if status != "unknown"]
        try:
            for row in self._settle(marks, mark=True):
                if row["component"] in seen:
                    self._settled.mark(row["component"], row["status"], datetime.fromisoformat(row["since"]))
            self._taken_up = True
        except CoreError as error:
            log.info("settled states were not read (%s)", error.code)

    def _news(self, changes: Sequence[Change]) -> Sequence[Change]:
        """Those that no other process has told; all of them while the database cannot say."""
        if self._db is None or not changes:
            return changes
        try:
            news = {row["component"] for row in self._settle([_row(c.name, c.status, c.since) for c in changes])}
        except CoreError as error:
            log.info("settled states were not shared (%s)", error.code)
            self._alone |= {change.name for change in changes}
            return changes
        told = [c for c in changes if c.name in news or c.name in self._alone]
        self._alone -= {c.name for c in changes}
        return told

    def _settle(self, rows: list[dict[str, str]], *, mark: bool = False) -> list[dict[str, Any]]:
        assert self._db is not None
        params = {"p_states": rows, "p_mark": mark}
        return self._db.rpc("desk_settle_health", params, read=False, returns=list, timeout_s=_SETTLE_S)

    def _tell(self, change: Change) -> None:
        if change.status == "ok":
            lasted = (change.since - change.previous_since).total_seconds()
            self._emit("HealthRecovered", component=change.name, downtime_s=lasted)
        elif change.previous == "ok":
            self._emit("HealthDegraded", component=change.name, status=change.status)
            if change.name == "schema" and change.status == "down":
                self._emit("NeedsMigrationDetected", code="schema")

    def _flag_destructive(self, report: HealthReport) -> None:
        found: Mapping[str, str] = next(
            (c.facts.get("destructive", {}) for c in report.components if c.name == "migrations"), {}
        )
        if self._destructive is not None:
            for file in sorted(set(found) - self._destructive):
                self._emit("DestructiveMigrationFlagged", file=file, statement=found[file].replace(" ", "-"))
        self._destructive = (self._destructive or set()) | set(found)

    def _emit(self, event_type: str, **payload: object) -> None:
        self._events.emit(event_type, payload, actor=_ACTOR)


def _row(name: str, status: str, since: datetime) -> dict[str, str]:
    return {"component": name, "status": status, "since": since.isoformat()}
