"""Usage into the table, or onto the disk until the table takes it: written once, never lost."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.db.client import Database
from core.db.failures import refuses_values
from core.db.rows import batches
from core.errors import CoreError
from core.events.drain import Drain
from core.events.emitter import Events
from core.events.spool import Depth, Record
from core.usage.entries import ParsedUsage

log = logging.getLogger(__name__)

KIND = "usage"
BATCH = 200
DIRECT_S = 5.0  # the request waits for this; then the rows wait on disk instead


@dataclass(frozen=True)
class Recorded:
    """What became of a body's rows: written now, there already, waiting on disk; and how many of them are estimates."""

    written: int
    present: int
    spooled: int
    estimated: int

    def as_json(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class DialogUsage:
    """Sums over one dialog's calls; `waiting` of them are not in the table yet."""

    calls: int
    prompt: int
    completion: int
    total: int
    waiting: int

    def as_json(self) -> dict[str, int]:
        return {"calls": self.calls, "prompt": self.prompt, "completion": self.completion, "total": self.total}


@dataclass(frozen=True)
class Waiting:
    """Rows that the table does not have: how many, since when the database takes none (seconds), and why."""

    depth: Depth
    failing_for_s: float | None
    reason: str


class UsageRecorder:
    """Thread-safe; one per process. Shares the events' spool under a kind of its own."""

    def __init__(self, db: Database, events: Events) -> None:
        self._db = db
        self._events = events
        self._spool = events.spool
        self.drain = Drain(self._spool, {KIND: self._send}, refuses_values)

    def record(self, usage: ParsedUsage) -> Recorded:
        """Write the rows, or keep them on disk where the database does not take them. Never raises for that.

        While rows are waiting new ones go to the disk at once, so that no request waits for a database that is away.
        """
        written = present = 0
        left = [row.body() for row in usage.rows]
        if self.drain.failing_since is None:
            try:
                for batch in list(batches(left, BATCH)):
                    answer = self._write(batch, timeout_s=DIRECT_S)
                    written, present = written + answer["written"], present + answer["present"]
                    left = left[len(batch) :]
            except CoreError as error:
                log.warning("token_usage_log insert skipped: %s (%d rows wait on disk)", error.what, len(left))
        for body in left:
            self._spool.append(Record(KIND, body["id"], body))
        if left:
            self.drain.wake()
        if written or left:
            self._announce(usage)
        return Recorded(written, present, len(left), len(usage.rows) if usage.estimated else 0)

    def dialog_usage(self, dialog_key: str, since: datetime | None = None) -> DialogUsage:
        """Calls and tokens from `since` on (inclusive), rows on disk and in the table counted once each.

        Errors: DatabaseError. Source: desk_dialog_usage.
        """
        # The disk first: what is written to the table meanwhile is then in both, and SQL counts ids once.
        waiting = [dict(r.body) for r in self._spool.peek(KIND) if r.body.get("dialog_key") == dialog_key]
        answer = self._db.rpc(
            "desk_dialog_usage",
            {
                "p_dialog_key": dialog_key,
                "p_since": since.isoformat() if since else None,
                "p_waiting": list({row["id"]: row for row in waiting}.values()),
            },
            read=True,
            returns=dict,
        )
        return DialogUsage(**{name: int(answer[name]) for name in DialogUsage.__dataclass_fields__})

    def waiting(self, now_s: float) -> Waiting:
        """What waits on disk, of all processes; `now_s` is time.monotonic()."""
        since, error = self.drain.failing_since, self.drain.last_error
        return Waiting(
            self._spool.depth(KIND), None if since is None else max(0.0, now_s - since), error.what if error else ""
        )

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Write what waits now; False where something is left."""
        return self.drain.flush(timeout_s)

    def close(self, timeout_s: float = 5.0) -> bool:
        """One last try; what is left waits for the next process."""
        return self.drain.close(timeout_s)

    def _send(self, records: Sequence[Record]) -> None:
        self._write([dict(record.body) for record in records], timeout_s=None)

    def _write(self, rows: Sequence[Mapping[str, Any]], *, timeout_s: float | None) -> dict[str, Any]:
        return self._db.rpc("desk_record_usage", {"p_rows": list(rows)}, read=False, returns=dict, timeout_s=timeout_s)

    def _announce(self, usage: ParsedUsage) -> None:
        rows = usage.rows
        providers, models = {r.provider for r in rows}, {r.model for r in rows}
        self._events.emit(
            "TokensLogged",
            {
                "request_id": usage.request_id,
                "dialog_key": usage.dialog_key,
                "calls": len(rows),
                "by_phase": dict(Counter(row.phase.replace(" ", "_") for row in rows)),
                "provider": providers.pop() if len(providers) == 1 else None,
                "model": models.pop() if len(models) == 1 else None,
                "prompt": sum(row.prompt_tokens or 0 for row in rows),
                "completion": sum(row.completion_tokens or 0 for row in rows),
                "total": sum(row.total_tokens or 0 for row in rows),
                "estimated": usage.estimated,
            },
            record_id=usage.request_id,
            collection="token_usage_log",
        )
