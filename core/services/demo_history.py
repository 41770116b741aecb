"""Writes the demo's snapshots, usage, prices, recorded searches and query sets, in steps, so that it may be stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.db.client import Database
from core.db.rows import batches
from core.services.demo_content import DemoDialog
from core.services.demo_judged import write_judged
from core.services.demo_retrievals import demo_retrievals
from core.services.demo_snapshots import demo_snapshots
from core.services.demo_usage import demo_prices, demo_usage

BATCH = 1000
RECORDS = 100  # each with a dozen texts


@dataclass(frozen=True)
class DemoRows:
    """Demo rows as they stand in each table; `others`: whether chunks, snapshots or usage of anybody else are there."""

    chunks: int
    snapshots: int
    usage: int
    prices: int
    others: bool = False

    @property
    def total(self) -> int:
        return self.chunks + self.snapshots + self.usage + self.prices


def count_rows(db: Database) -> DemoRows:
    """Errors: DatabaseError. Source: desk_demo_rows."""
    return DemoRows(**db.rpc("desk_demo_rows", {}, read=True, returns=dict))


def write_history(db: Database, dialogs: Sequence[DemoDialog], now: datetime) -> Iterator[tuple[str, int, int]]:
    """Write batch by batch; after each what it was part of, rows done, of how many. Rows that are there stay.

    Errors: DatabaseError; what was written until then stays and is completed by the next load.
    """
    db.rpc("desk_write_demo_prices", {"p_rows": demo_prices(now)}, read=False, returns=dict)
    snapshots = demo_snapshots(dialogs, now)
    usage = [row.body() for row in demo_usage(dialogs, now)]
    for part, function, rows in (
        ("snapshots", "desk_write_demo_snapshots", snapshots),
        ("usage", "desk_record_usage", usage),
    ):
        done = 0
        yield part, done, len(rows)
        for batch in batches(rows, BATCH):
            db.rpc(function, {"p_rows": list(batch)}, read=False, returns=dict)
            done += len(batch)
            yield part, done, len(rows)
    records, done = demo_retrievals(db, dialogs, now), 0
    yield "retrievals", done, len(records)
    for batch in batches(records, RECORDS):
        db.rpc("desk_record_retrievals", {"p_records": list(batch)}, read=False, returns=dict)
        done += len(batch)
        yield "retrievals", done, len(records)
    yield "query sets", 0, 1
    write_judged(db, dialogs)
    yield "query sets", 1, 1
