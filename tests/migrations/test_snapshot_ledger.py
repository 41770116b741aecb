"""The ledger's triggers beside the existing service: its writes succeed and do not wait, whatever state ours are in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import call, value

ROW = """insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_id, payload, content_hash)
values (%s, 'note', gen_random_uuid()::text, '{"t": 1}', 'h') returning id"""
FAULTS = "select count(*) from desk_meta where key like 'ledger_fault:%%'"


def write(connection: psycopg.Connection[Any], key: str = "d1") -> float:
    """An insert and an update of the service, as anon; seconds they took."""
    connection.execute("set role anon")
    began = time.monotonic()
    [(snapshot,)] = connection.execute(ROW, [key]).fetchall()
    connection.execute("update tips_daily_entity_snapshots set content_hash = 'h2' where id = %s", [snapshot])
    connection.execute("reset role")
    return time.monotonic() - began


@pytest.fixture
def holder(legacy_server: tuple[str, str]) -> Iterator[psycopg.Connection[Any]]:
    """Another session that holds locks on our tables."""
    with psycopg.connect(legacy_server[1]) as connection:
        yield connection
        connection.rollback()


def noted(connection: psycopg.Connection[Any], key: str = "d1") -> Any:
    return value(
        connection, "select count(*) from desk_snapshot_ledger where dialog_key = %s and content_hash = 'h2'", key
    )


def test_rows_of_before_are_in_the_ledger(legacy: psycopg.Connection[Any]) -> None:
    """The migration noted their hashes, and its index came beside."""
    assert value(legacy, "select count(*) from desk_snapshot_ledger") == 120
    assert value(legacy, "select to_regclass('tips_daily_entity_snapshots_sync_date_idx') is not null")


def test_a_write_is_noted(legacy: psycopg.Connection[Any]) -> None:
    """As anon, who may not see the ledger."""
    write(legacy)
    assert noted(legacy) == 1
    legacy.execute("set role anon")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        legacy.execute("select * from desk_snapshot_ledger")


@pytest.mark.parametrize("locked", ["desk_snapshot_ledger", "desk_snapshot_ledger, desk_meta"])
def test_locked(legacy: psycopg.Connection[Any], holder: psycopg.Connection[Any], locked: str) -> None:
    """With the ledger locked the write succeeds at once; the catch-up notes it afterwards."""
    holder.execute(f"lock table {locked} in access exclusive mode")
    assert write(legacy) < 1.5
    holder.rollback()
    assert noted(legacy) == 0
    if "desk_meta" not in locked:
        assert value(legacy, FAULTS) == 2
    assert call(legacy, "desk_ledger_catch_up")["added"] == 1
    assert (noted(legacy), value(legacy, FAULTS)) == (1, 0)


@pytest.mark.parametrize(
    "broken",
    [
        "alter table desk_snapshot_ledger rename to away",
        "drop table desk_snapshot_ledger",
        "alter table desk_snapshot_ledger add constraint never check (false) not valid",
        "alter table desk_snapshot_ledger drop column content_hash",
        "drop table desk_snapshot_ledger, desk_meta cascade",
    ],
)
def test_missing_or_broken(legacy: psycopg.Connection[Any], broken: str) -> None:
    """Without the table, with another form of it, with one that refuses every row: the write succeeds."""
    legacy.execute(broken)
    assert write(legacy) < 1.5
    assert value(legacy, "select count(*) from tips_daily_entity_snapshots where content_hash = 'h2'") == 1


def test_rows_without_a_hash(legacy: psycopg.Connection[Any]) -> None:
    """An older row may claim none: it is written, and there is nothing to note."""
    legacy.execute("set role anon")
    legacy.execute(
        "insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_id) values ('n', 'note', '1')"
    )
    legacy.execute("reset role")
    assert noted(legacy, "n") == 0
    assert value(legacy, FAULTS) == 0


def test_what_a_row_costs(legacy: psycopg.Connection[Any]) -> None:
    """A write of a thousand rows with the triggers is of the order of one without them."""
    many = (
        "insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_id, payload, content_hash)"
        " select %s || n %% 50, 'note', n::text, '{}', md5(n::text) from generate_series(1, 1000) n"
    )
    times = []
    for name in ("with", "without"):
        if name == "without":
            legacy.execute("alter table tips_daily_entity_snapshots disable trigger user")
        began = time.monotonic()
        legacy.execute(many, [name])
        times.append(time.monotonic() - began)
    assert times[0] < 5 * times[1] + 0.3


def test_our_capture_works_there(legacy: psycopg.Connection[Any]) -> None:
    """On a table of before: its own 21 days stay, and its rows are not replaced."""
    legacy.execute("set role service_role")
    rows = [
        {
            "dialog_key": "k1",
            "sync_date": str(value(legacy, "select current_date")),
            "entity_type": "note",
            "source_role": "",
            "source_id": source,
            "payload": {"n": 9},
            "content_hash": "ours",
        }
        for source in ("1", "new")
    ]
    done = call(legacy, "desk_capture_snapshots", p_rows=rows)
    assert (done["inserted"], done["kept"]) == (1, 1)
    days = value(
        legacy, "select extract(day from expires_at - now()) from tips_daily_entity_snapshots where source_id = 'new'"
    )
    assert days == 21
