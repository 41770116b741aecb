"""The room's front: record, price, report, keep the rollup right."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from core.access import require
from core.clock import Clock
from core.db.client import Database
from core.events.actor import Actor
from core.events.emitter import Events
from core.usage.entries import parse_usage
from core.usage.prices import Budget, Prices
from core.usage.pricing import Price
from core.usage.record import Recorded, UsageRecorder, Waiting
from core.usage.report import UsageReports


class Usage:
    """Thread-safe; one per process. Reads go through `reports`, `prices` and `recorder`."""

    def __init__(self, db: Database, events: Events, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self.recorder = UsageRecorder(db, events)
        self.prices = Prices(db, events)
        self.reports = UsageReports(db, self.prices)
        self.recorder.drain.start()

    def record(self, body: Mapping[str, Any], *, dialog_key: str | None = None) -> Recorded:
        """The rows of one request into the log, or onto the disk where the database is away. Errors: InputError."""
        return self.recorder.record(parse_usage(body, self._clock.now(), dialog_key=dialog_key))

    def waiting(self) -> Waiting:
        """Rows that are not in the table yet."""
        return self.recorder.waiting(time.monotonic())

    def set_price(self, actor: Actor, *prices: Price) -> int:
        """Enter prices; past usage is priced anew with them. Errors: Forbidden, InputError, DatabaseError."""
        require(actor, "set_price")
        return self.prices.set(actor, prices)

    def set_budget(self, actor: Actor, budget: Budget) -> Budget:
        """Errors: Forbidden, InputError, DatabaseError."""
        require(actor, "set_price")
        return self.prices.set_budget(actor, budget)

    def check(self) -> Mapping[str, Any]:
        """{equal, differing (at most 50 hours), rows, rollup, stale}. Reads every row. Source: desk_check_usage."""
        return self._db.rpc("desk_check_usage", {}, read=True, returns=dict, timeout_s=120.0)

    def rebuild(self, actor: Actor) -> Mapping[str, Any]:
        """{changed, hours, stale}: the rollup brought to what the rows say. Source: desk_rebuild_usage."""
        require(actor, "rebuild_rollups")
        return self._db.rpc("desk_rebuild_usage", {}, read=False, returns=dict, timeout_s=130.0)

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write what waits once more; the rest is left to the next process."""
        return self.recorder.close(timeout_s)
