"""Capture over the real database: hashes that survive jsonb, rows of upstream that stay, pins, the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.canonical import content_hash
from core.errors import DatabaseError
from core.snapshots.rows import Snapshot
from core.snapshots.store import SnapshotStore
from core.snapshots.verify import verify
from tests.support.snapshots import count, row, upstream

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text(encoding="utf-8"))["snapshot_hashes"]


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def store(core: Core) -> SnapshotStore:
    return SnapshotStore(core.db)


def note(source_id: str, payload: Any, key: str = "d1", day: str = "2026-11-30") -> Snapshot:
    return Snapshot(key, day, "note", "", source_id, payload)


def test_golden_hashes_survive_the_database(core: Core, store: SnapshotStore) -> None:
    """Every golden payload, written and read back through supabase-py, has the hash of the existing backend."""
    done = store.capture([note(str(n), json.loads(case["json"])) for n, case in enumerate(GOLDEN)])
    assert done.inserted == len(GOLDEN)
    read = {row["source_id"]: row for page in core.db.pages("tips_daily_entity_snapshots", "*") for row in page}
    for n, case in enumerate(GOLDEN):
        assert read[str(n)]["content_hash"] == case["sha256"]
        assert content_hash(read[str(n)]["payload"]) == case["sha256"]
    checked = verify(core.db)
    assert (checked.checked, checked.differ) == (len(GOLDEN), 0)


@pytest.mark.parametrize(
    "number", [1e21, 10**21, -0.0, 1.0, 5e-324, 1.7976931348623157e308, 2**53 + 1, 0.1 + 0.2, 1e-7]
)
def test_numbers_survive_jsonb(core: Core, store: SnapshotStore, number: float) -> None:
    """jsonb writes numbers in its own way; the hash stays."""
    store.capture([note("1", {"n": number})])
    assert verify(core.db).differ == 0


def test_unchanged_rows_are_not_written_again(store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """The same batch twice writes once; a changed row of ours is replaced, in its place."""
    store.capture([note("1", {"t": 1}), note("2", {"t": 2})])
    again = store.capture([note("1", {"t": 1}), note("2", {"t": 3})])
    assert (again.inserted, again.updated, again.unchanged, again.kept) == (0, 1, 1, 0)
    assert count(sql) == 2


def test_rows_of_upstream_are_never_replaced(store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """What the service wrote stays, also where it wrote over a row that was ours."""
    upstream(sql, row(source_id="1", payload={"t": "upstream"}))
    store.capture([note("2", {"t": "ours"})])
    sql.execute("update tips_daily_entity_snapshots set text = 'touched' where source_id = '2'")
    done = store.capture([note("1", {"t": "other"}), note("2", {"t": "other"})])
    assert (done.written, done.kept, done.kept_by_type) == (0, 2, {"note": 2})
    payloads = {r[0] for r in sql.execute("select payload ->> 't' from tips_daily_entity_snapshots")}
    assert payloads == {"upstream", "ours"}


def test_upstream_writing_the_same_again_makes_a_row_its_own(
    store: SnapshotStore, sql: psycopg.Connection[Any]
) -> None:
    """Also a write of equal content is a write: from then on the row is not ours to replace."""
    store.capture([note("1", {"t": 1})])
    sql.execute("update tips_daily_entity_snapshots set payload = payload")
    assert store.capture([note("1", {"t": 2})]).kept == 1


def test_the_marker_of_a_sync_is_refused(store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """Not even a caller that bypasses the service writes a daily_sync row."""
    with pytest.raises(DatabaseError):
        store.capture([Snapshot("d1", "2026-11-30", "daily_sync", "", "daily-sync", {"completedAt": "x"})])
    assert count(sql) == 0


def test_rows_with_different_fields_have_their_defaults(store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """Case 8: a missing field in one row of a batch does not become null in another."""
    store.capture([note("1", {"text": "a", "date": "2026-11-29"}), note("2", {"text": "b"})])
    assert count(sql, ["expires_at > now()", "created_at is not null"]) == 2


def test_more_rows_than_one_call_takes(store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """A batch is 500; all arrive."""
    done = store.capture([note(str(n), {"n": n}) for n in range(1203)])
    assert done.inserted == 1203 == count(sql)


def test_the_ledger_follows_and_outlives(core: Core, store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """Hashes stand in the ledger at once, also of upstream's rows, and stay when the rows go."""
    [first] = upstream(sql, row(source_id="9", day="2026-11-28", payload={"t": 1}))
    upstream(sql, row(source_id="9", day="2026-11-29", payload={"t": 1}), row(source_id="9", payload={"t": 2}))
    sql.execute("delete from tips_daily_entity_snapshots where id = %s", [first])
    history = core.snapshots.reads.history("d1", "note", "", "9")
    assert [(d.sync_date, d.stored, d.changed) for d in history.rows] == [
        ("2026-11-30", True, True),
        ("2026-11-29", True, False),
        ("2026-11-28", False, False),
    ]
    assert history.changes == 1
    assert history.last_change is not None
    assert [f.place for f in (history.last_change and history.last_change.fields) or ()] == ["t"]
    assert history.rows[1].fields is None  # the payload of the day before is gone


def test_catch_up_finds_what_the_trigger_missed(store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """Missing hashes are added, wrong ones corrected, those older than a year dropped; twice does nothing."""
    upstream(sql, row(source_id="1"), row(source_id="2"))
    sql.execute("delete from desk_snapshot_ledger where source_id = '1'")
    sql.execute("update desk_snapshot_ledger set content_hash = 'wrong' where source_id = '2'")
    sql.execute("insert into desk_snapshot_ledger values ('old', 'note', '', '1', current_date - 400, 'h')")
    done = store.catch_up()
    assert (done.added, done.corrected, done.removed) == (1, 1, 1)
    again = store.catch_up()
    assert (again.added, again.corrected, again.removed) == (0, 0, 0)


def test_pins_end_within_ninety_days(core: Core, store: SnapshotStore, sql: psycopg.Connection[Any]) -> None:
    """The database itself refuses a longer pin."""
    [snapshot] = upstream(sql, row())
    event = core.events.prepare("SnapshotPinned", {"snapshot_id": snapshot})
    with pytest.raises(DatabaseError):
        store.pin(snapshot, "audit", datetime.now(UTC) + timedelta(days=91), event)
    assert sql.execute("select count(*) from desk_snapshot_pins").fetchone() == (0,)
