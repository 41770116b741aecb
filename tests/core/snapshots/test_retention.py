"""Clean-up: what goes, what stays, beside whom, and where it stands when it is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.snapshots.store import SnapshotStore
from tests.support.snapshots import count, row, upstream

PAST = "now() - interval '1 day'"


class Stopped(Exception):
    """What a stop button raises through `check`."""


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def many(sql: psycopg.Connection[Any], rows: int, expires: str = PAST, kind: str = "note") -> None:
    sql.execute(
        "insert into tips_daily_entity_snapshots (dialog_key, sync_date, entity_type, source_id, payload, content_hash,"
        f" expires_at) select 'd' || n %% 50, '2026-11-01', %s, n::text, '{{}}', md5(n::text), {expires}"  # type: ignore[arg-type]
        " from generate_series(1, %s) n",
        [kind, rows],
    )


def types_of_events(core: Core) -> list[str]:
    core.events.flush()
    return [e.type for e in core.events.store.query(app_id="snapshots", limit=100).rows]


def test_rows_that_never_expire(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Case 14: only what is past goes; without an expiry, exactly now, pinned: they stay and are named apart."""
    many(sql, 5)
    sql.execute("update tips_daily_entity_snapshots set entity_type = 'photo' where source_id = '5'")
    many(sql, 5, "null", "profile")
    many(sql, 5, "now() + interval '2 hours'", "dialog")
    [pinned] = upstream(sql, row("p", expires_at=(datetime.now(UTC) - timedelta(days=1)).isoformat()))
    core.snapshots.pin(pinned, "an audit", core.clock.now() + timedelta(days=30))
    seen = core.snapshots.preview()
    assert (seen.expired, seen.by_type) == (5, {"note": 4, "photo": 1})
    assert (seen.without_expiry, seen.without_by_type) == (5, {"profile": 5})
    assert (seen.pinned, seen.pinned_expired, seen.expiring_24h, seen.total) == (1, 1, 5, 16)
    done = core.snapshots.cleanup()
    assert (done.deleted, done.by_type) == (5, {"note": 4, "photo": 1})
    assert count(sql) == 11
    assert core.snapshots.preview().expired == 0


def test_exactly_now_is_not_past(sql: psycopg.Connection[Any]) -> None:
    """The rule is `before`: a row that expires at the cutoff stays, one a microsecond earlier goes."""
    many(sql, 3, "'2026-11-10T00:00:00Z'")
    answer = sql.execute("select desk_cleanup_snapshots('2026-11-10T00:00:00Z')").fetchone()
    assert answer is not None
    assert answer[0]["deleted"] == 0
    answer = sql.execute("select desk_cleanup_snapshots('2026-11-10T00:00:00.000001Z')").fetchone()
    assert answer is not None
    assert answer[0]["deleted"] == 3


def test_a_cutoff_in_the_future_is_brought_back(sql: psycopg.Connection[Any]) -> None:
    """Nobody deletes what has not expired yet, whatever is asked."""
    many(sql, 2, "now() + interval '1 hour'")
    answer = sql.execute("select desk_cleanup_snapshots(now() + interval '10 years')").fetchone()
    assert answer is not None
    assert answer[0]["deleted"] == 0


def test_limits(core: Core, sql: psycopg.Connection[Any]) -> None:
    """A limit is kept to; 0 deletes nothing."""
    many(sql, 5)
    assert core.snapshots.cleanup(limit=0).deleted == 0
    assert core.snapshots.cleanup(limit=2).deleted == 2
    assert count(sql) == 3


def test_batches_progress_and_events(core: Core, sql: psycopg.Connection[Any]) -> None:
    """2,500 rows go in three batches, each with its event; the run has one more; progress counts up to the total."""
    many(sql, 2500)
    seen: list[tuple[int, int]] = []
    done = core.snapshots.cleanup(progress=lambda n, of, _: seen.append((n, of)))
    assert (done.deleted, done.batches) == (2500, 3)
    assert seen == [(1000, 2500), (2000, 2500), (2500, 2500)]
    kinds = types_of_events(core)
    assert (kinds.count("SnapshotsDeleted"), kinds.count("CleanupRan")) == (3, 1)
    deleted = [e.payload for e in core.events.store.query(type="SnapshotsDeleted").rows]
    assert sum(p["deleted"] for p in deleted) == 2500
    assert core.events.store.verify().ok


def test_a_stopped_run_leaves_a_consistent_table(core: Core, sql: psycopg.Connection[Any]) -> None:
    """After the stop whole batches are gone and nothing else; the event says how far it got; a second run finishes."""
    many(sql, 2500)
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        core.snapshots.cleanup(check=check)
    assert count(sql) == 500
    core.events.flush()
    [ran] = core.events.store.query(type="CleanupRan").rows
    assert (ran.payload["deleted"], ran.payload["stopped"], ran.payload["failed"]) == (2000, True, False)
    assert core.snapshots.cleanup().deleted == 500


def test_beside_a_running_sync(core: Core, dsn: str, sql: psycopg.Connection[Any]) -> None:
    """Rows that a sync holds are passed over at once; what it wrote longer lives, what it let go expires next time."""
    many(sql, 10)
    with psycopg.connect(dsn) as sync:
        sync.execute(
            "update tips_daily_entity_snapshots set expires_at = now() + interval '14 days' where source_id < '3'"
            " and source_id <> '10'"
        )
        sync.execute("select from tips_daily_entity_snapshots where source_id = '3' for update")
        assert core.snapshots.cleanup().deleted == 7
        sync.commit()
    assert core.snapshots.cleanup().deleted == 1
    assert count(sql) == 2


def test_a_pin_that_comes_between(core: Core, dsn: str, sql: psycopg.Connection[Any]) -> None:
    """While a pin is being written its row is passed over, and afterwards it is pinned."""
    many(sql, 3)
    with psycopg.connect(dsn) as pinning:
        [(snapshot,)] = pinning.execute(
            "select id from tips_daily_entity_snapshots where source_id = '1' for share"
        ).fetchall()
        pinning.execute(
            "insert into desk_snapshot_pins (snapshot_id, dialog_key, reason, actor, until)"
            " values (%s, 'd1', 'audit', '{}', now() + interval '1 day')",
            [snapshot],
        )
        assert core.snapshots.cleanup().deleted == 2
        pinning.commit()
    assert core.snapshots.cleanup().deleted == 0
    assert count(sql) == 1


def test_a_pin_that_ended_keeps_nothing(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Past its end a pin is no pin."""
    [snapshot] = upstream(sql, row(expires_at="2026-01-01T00:00:00Z"))
    sql.execute(
        "insert into desk_snapshot_pins"
        " values (%s, 'd1', 'audit', '{}', now() - interval '9 days', now() - interval '1 day')",
        [snapshot],
    )
    assert core.snapshots.cleanup().deleted == 1
    assert sql.execute("select count(*) from desk_snapshot_pins").fetchone() == (0,)


def test_a_missed_hash_is_noted_before_its_row_goes(core: Core, sql: psycopg.Connection[Any]) -> None:
    """The ledger loses nothing to a clean-up, even where the trigger failed."""
    upstream(sql, row(day=f"{core.clock.now().date() - timedelta(days=20)}", expires_at="2026-01-01T00:00:00Z"))
    sql.execute("truncate desk_snapshot_ledger")
    assert core.snapshots.cleanup().deleted == 1
    assert sql.execute("select count(*) from desk_snapshot_ledger").fetchone() == (1,)


def test_readers_are_not_blocked(core: Core, dsn: str, sql: psycopg.Connection[Any]) -> None:
    """A reader in a transaction of its own sees its rows throughout, and a clean-up does not wait for it."""
    many(sql, 1500)
    with psycopg.connect(dsn) as reader:
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("set local lock_timeout = '200ms'")
        assert count(reader) == 1500
        assert core.snapshots.cleanup().deleted == 1500
        assert count(reader) == 1500


def test_broken_in_the_middle(core: Core, sql: psycopg.Connection[Any]) -> None:
    """A database that refuses a batch: the run fails, the event says so, the batch is wholly there."""
    many(sql, 10)
    sql.execute("alter table desk_snapshot_ledger rename to away")
    try:
        with pytest.raises(Exception, match="lacks a table"):
            core.snapshots.cleanup()
    finally:
        sql.execute("alter table away rename to desk_snapshot_ledger")
    assert count(sql) == 10
    core.events.flush()
    [ran] = core.events.store.query(type="CleanupRan").rows
    assert (ran.payload["failed"], ran.payload["stopped"]) == (True, False)
    assert SnapshotStore(core.db).schedule()["last_run"] is None
