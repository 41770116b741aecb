"""Events out of rows that another service writes straight into its tables. Source: spec/companion.md, EV-25."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.clock import Clock
from core.companion.reflect.scanned import Found, changed, completed, ingested, logged, synced
from core.db.client import Database
from core.errors import CoreError
from core.events.actor import system
from core.events.emitter import Events
from core.events.event import Event
from core.usage.pricing import PriceBook

log = logging.getLogger(__name__)

OVERLAP = timedelta(hours=2)  # how late a row may come in and be found at the next look
LONG_OVERLAP = timedelta(days=2)  # and at the daily one
FIRST_LOOK = timedelta(days=1)  # a database with years of rows does not become years of events
QUIET = timedelta(seconds=60)
SYNC_QUIET = timedelta(minutes=5)
BUCKET_S = 300
TOKEN_EVENTS_A_DAY = 5000
BATCH = 500
SCAN_S = 65.0


class Scanner:
    """Thread-safe; any number of processes: what one has told, none tells again.

    `prices` gives the price book, for the cost of a request; None where there are none.
    """

    def __init__(
        self,
        db: Database,
        events: Events,
        clock: Clock,
        *,
        prices: Callable[[], PriceBook] | None = None,
        tokens_a_day: int = TOKEN_EVENTS_A_DAY,
    ) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._prices = prices
        self._tokens_a_day = tokens_a_day

    def scan(self, overlap: timedelta = OVERLAP) -> dict[str, int]:
        """Tell what no event tells yet, source by source: new events of each, and `failed` sources.

        Errors: DatabaseError where none could be read.
        """
        self._events.drain.flush(2.0)  # what this process has told must be there before anything is compared
        told: dict[str, int] = {}
        problem: CoreError | None = None
        sources: dict[str, Callable[[datetime, datetime], int]] = {
            "chunks": self._chunks,
            "snapshots": self._snapshots,
            "entities": self._entities,
            "tokens": self._tokens,
        }
        for source, look in sources.items():
            now = self._clock.now()
            try:
                told[source] = look(self._since(source, now) - overlap, now)
                self._db.rpc(
                    "companion_set_cursor",
                    {"p_source": f"scan:{source}", "p_watermark": {"at": now.isoformat()}},
                    read=False,
                )
            except CoreError as failure:
                log.warning("%s were not looked through (%s)", source, failure.code)
                problem = failure
        if problem is not None and not told:
            raise problem
        return told | {"failed": len(sources) - len(told)}

    def _chunks(self, since: datetime, now: datetime) -> int:
        until = _floor(now - QUIET)
        params = {"p_from": _floor(since).isoformat(), "p_until": until.isoformat(), "p_limit": BATCH}
        return self._until_told("companion_scan_chunks", params, ingested)

    def _snapshots(self, since: datetime, now: datetime) -> int:
        params = {"p_from": since.isoformat(), "p_until": now.isoformat(), "p_limit": BATCH}
        params |= {"p_quiet": (now - SYNC_QUIET).isoformat()}
        return self._until_told("companion_scan_snapshots", params, synced)

    def _entities(self, since: datetime, now: datetime) -> int:
        told = 0
        params: dict[str, Any] = {"p_from": since.isoformat(), "p_until": now.isoformat(), "p_limit": BATCH}
        while True:
            page = self._ask("companion_scan_entities", params, dict)
            told += self._tell([*map(changed, page["changes"]), *map(completed, page["markers"])])
            if page["read"] < BATCH:
                return told
            params |= {"p_after_at": page["last"]["at"], "p_after_id": page["last"]["id"]}

    def _tokens(self, since: datetime, now: datetime) -> int:
        book = self._prices() if self._prices else None
        hour = since.replace(minute=0, second=0, microsecond=0)
        params = {"p_from": hour.isoformat(), "p_quiet": (now - QUIET).isoformat(), "p_limit": BATCH}
        params |= {"p_daily_limit": self._tokens_a_day}
        return self._until_told("companion_scan_tokens", params, lambda row: logged(row, book))

    def _until_told(self, function: str, params: dict[str, Any], make: Callable[[Any], Found]) -> int:
        """Batch after batch; what is told is not given again, so a batch of which nothing was new is the last."""
        told = 0
        while True:
            rows = self._ask(function, params, list)
            new = self._tell(map(make, rows))
            told += new
            if len(rows) < BATCH or new == 0:
                return told

    def _ask(self, function: str, params: dict[str, Any], returns: type[Any]) -> Any:
        return self._db.rpc(function, params, read=True, returns=returns, timeout_s=SCAN_S)

    def _tell(self, found: Iterable[Found]) -> int:
        events = [self._event(one) for one in found]
        if not events:
            return 0
        rows = [event.row() for event in events]
        answer = self._db.rpc("companion_scan_commit", {"p_events": rows}, read=False, returns=dict)
        new = set(answer["inserted"])
        self._announce([event for event in events if event.meta.id in new])
        return len(new)

    def _event(self, found: Found) -> Event:
        event = self._events.prepare(
            found.type,
            found.payload,
            actor=system("stream"),
            record_id=found.record_id,
            collection=found.collection,
        )
        return replace(event, meta=replace(event.meta, id=found.id, timestamp=found.at.astimezone(UTC), caused_by=None))

    def _announce(self, events: Sequence[Event]) -> None:
        for event in events:
            self._events.announce(event)

    def _since(self, source: str, now: datetime) -> datetime:
        where = {"source": f"scan:{source}"}
        found = self._db.sample("companion_cursors", "source,watermark", order="source", limit=1, where=where)
        return datetime.fromisoformat(found[0]["watermark"]["at"]) if found else now - FIRST_LOOK


def _floor(at: datetime) -> datetime:
    """The beginning of its five minutes."""
    seconds = int(at.timestamp())
    return datetime.fromtimestamp(seconds - seconds % BUCKET_S, UTC)
