"""The retrieval record as everybody uses it: reads, reports of wrong context, how long it is kept."""

from __future__ import annotations

from uuid import UUID

from core.access.roles import permit
from core.clock import Clock
from core.db.client import Database
from core.errors import InputError, NotFound
from core.events.emitter import Events
from core.retrievals.record import WRONG, Retrieval
from core.retrievals.recorder import Recorder
from core.retrievals.store import RetrievalStore

DAYS_LEAST, DAYS_MOST = 1, 400
BATCH = 1000
BATCHES = 50  # an hour's work at most: the next hour goes on


class Retrievals:
    """One per process, thread-safe. `store` reads, `recorder` writes."""

    def __init__(self, db: Database, events: Events, clock: Clock) -> None:
        self.recorder = Recorder(db, clock)
        # Whoever has just searched finds it: what waits is written before anything is read.
        self.store = RetrievalStore(db, self.recorder.flush)
        self._events = events

    def report(self, retrieval: str, rank: int, reason: str) -> str:
        """Report a chunk of a record as wrong; the report's id. The same said twice is one report.

        Errors: Forbidden, InputError naming reason, NotFound, DatabaseError.
        """
        _allow("report_context")
        if reason not in WRONG:
            raise InputError("The reason is not one of the list.", hint=f"Known: {', '.join(WRONG)}.", field="reason")
        record = self._record(retrieval)
        payload = {"request_id": record.request_id} if record.request_id else {}
        event = self._events.prepare("WrongContextReported", payload, record_id=record.dialog_key)
        done = self.store.report(retrieval, rank, reason, event)
        if done["outcome"] == "missing":
            raise NotFound("This chunk is not in the record.", hint="Reload the page.")
        if done["outcome"] == "done":
            self._events.announce(event)
        return str(done["id"])

    def withdraw(self, report_id: str) -> None:
        """Take a report back; it stays in the list as withdrawn. Errors: Forbidden, NotFound, DatabaseError."""
        _allow("report_context")
        event = self._events.prepare("WrongContextWithdrawn", {})
        done = self.store.withdraw(_uuid(report_id), event)
        if done["outcome"] == "missing":
            raise NotFound("This report is not there.", hint="Reload the page.")
        if done["outcome"] == "done":
            self._events.announce(event)

    def keep_days(self, days: int) -> None:
        """Keep records for so many days from now on; older ones go within the hour.

        Errors: Forbidden, InputError, DatabaseError.
        """
        _allow("retrieval_retention")
        if isinstance(days, bool) or not isinstance(days, int) or not DAYS_LEAST <= days <= DAYS_MOST:
            raise InputError(f"Records are kept for {DAYS_LEAST} to {DAYS_MOST} days.", field="days")
        event = self._events.prepare("RetrievalRetentionChanged", {})
        self.store.keep_days(days, event)
        self._events.announce(event)

    def prune(self) -> int:
        """Delete what is older than the retention, batch by batch; how many. Errors: DatabaseError."""
        deleted = 0
        for _ in range(BATCHES):
            done = self.store.prune(BATCH)
            deleted += done
            if done < BATCH:
                break
        return deleted

    def _record(self, id: str) -> Retrieval:
        record = self.store.get(id)
        if record is None:
            raise NotFound("This record is not there.", hint="It may be older than the retention.")
        return record


def _allow(action: str) -> None:
    permit(action)


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFound("This report is not there.", hint="Reload the page.") from None
