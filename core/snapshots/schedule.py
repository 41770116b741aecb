"""The daily run: once a day over all processes.

On the embedded database it is on, from the second day. On a hosted one it waits for a person who has seen a preview;
where pg_cron is installed there, the database itself then does it. The ledger is caught up in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.clock import Clock
from core.events.actor import run_as, system
from core.snapshots.retention import CleanupResult
from core.snapshots.store import SnapshotStore


@dataclass(frozen=True)
class Schedule:
    """`by`: who runs it daily: app, pg_cron or nobody; `confirmed_at` and `last_day` are ISO texts or None."""

    by: str
    reason: str
    confirmed_at: str | None
    confirmed_by: str | None
    last_day: str | None
    needs_confirmation: bool


class DailyCleanup:
    """`clean` is the whole clean-up, as the service does it. Thread-safe."""

    def __init__(
        self, store: SnapshotStore, clean: Callable[[], CleanupResult], clock: Clock, *, embedded: bool
    ) -> None:
        self._store = store
        self._clean = clean
        self._clock = clock
        self._embedded = embedded

    def state(self) -> Schedule:
        """Who deletes daily, and why or why not. Errors: DatabaseError."""
        return schedule_of(self._store.schedule(), embedded=self._embedded)

    def due(self, now: datetime) -> bool:
        """Whether the run of this UTC day is ours to do and has not been done."""
        found = self.state()
        return found.by == "app" and (found.last_day is None or found.last_day < now.date().isoformat())

    def run_if_due(self) -> CleanupResult | None:
        """Do it, as the system, if it is due and no other process was quicker; else None. Errors: DatabaseError."""
        now = self._clock.now()
        if not self.due(now):
            return None
        first = self.state()
        if not self._store.claim(now.date()):
            return None
        # Nobody was asked on the embedded database: so on its first day everything can still be looked at.
        if first.last_day is None and first.confirmed_at is None:
            return None
        with run_as(system("rule")):
            return self._clean()

    def tend(self) -> None:
        """What is done every hour: the hashes that the ledger missed, and the daily run. Errors: DatabaseError."""
        self._store.catch_up()
        self.run_if_due()


def schedule_of(answer: Mapping[str, Any], *, embedded: bool) -> Schedule:
    """From the answer of desk_cleanup_schedule."""
    confirmed = answer.get("confirmed") or {}
    last_day = (answer.get("last_run") or {}).get("day")
    if embedded:
        by, reason = "app", "This program does it once a day while it runs."
    elif not confirmed:
        by, reason = "nobody", "Off until somebody has looked at a preview and confirmed it."
    elif answer.get("cron") == "present":
        by, reason = "pg_cron", "The database does it, every day at 03:17 UTC."
    else:
        by, reason = "app", "This program does it once a day while it runs; the database has no pg_cron."
    who = (confirmed.get("actor") or {}).get("display_name")
    return Schedule(by, reason, confirmed.get("at"), who, last_day, not embedded and not confirmed)
