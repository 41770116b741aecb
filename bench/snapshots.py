"""Snapshots in SQL: diff of two days, coverage, clean-up of 100,000 rows beside a reader, the cost of the ledger."""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from bench.sql_shapes import database, line, timed

DAYS = 14
LAST = "date '2026-11-30'"
# One dialog has ten entities; about a tenth of them is another every day, one in a hundred comes or goes.
FILL = f"""
insert into tips_daily_entity_snapshots (sync_date, dialog_key, family, ru_id, tu_id, entity_type, source_role,
                                         source_id, text, payload, content_hash, expires_at)
select d, encode(sha256(convert_to('dialog:' || n / 10, 'UTF8')), 'hex'), 'tips', 'ru-' || n / 10, 'tu-' || n %% 50,
       (array['dialog', 'dialog', 'dialog', 'note', 'note', 'note', 'photo', 'photo', 'profile',
              'profile'])[1 + n %% 10],
       case when n %% 10 < 6 then '' when n %% 2 = 0 then 'ru' else 'tu' end,
       case when n %% 10 < 6 then 'entity ' || n %% 10 when n %% 2 = 0 then 'ru' else 'tu' end,
       'a line of about the length that a message has, number ' || n,
       jsonb_build_object('text', 'a line of about the length that a message has, number ' || n, 'version', v,
                          'details', jsonb_build_object('goal', jsonb_build_array('a', 'b', v))),
       encode(sha256(convert_to(n || ':' || v, 'UTF8')), 'hex'), now() + interval '1 day' * (d - {LAST} + 14)
from generate_series(0, %(entities)s - 1) n, generate_series({LAST} - {DAYS - 1}, {LAST}, interval '1 day') moment,
     lateral (select moment::date as d) x,
     lateral (select case when (n + extract(day from d)::int) %% 10 = 0 then extract(day from d)::int else 0 end as v) y
where (n + extract(day from d)::int) %% 100 <> 7
"""
EXPIRED = """
insert into tips_daily_entity_snapshots (sync_date, dialog_key, entity_type, source_id, text, payload, content_hash,
                                         expires_at)
select date '2026-10-01' + n %% 30, 'old ' || n %% 1000, 'note', n::text, 'a line', '{"text": "a line of text"}',
       md5(n::text), now() - interval '1 minute' * (1 + n %% 10000)
from generate_series(1, %(rows)s) n
"""
RAW = "select count(*) from tips_daily_entity_snapshots where sync_date in ('2026-11-29', '2026-11-30')"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=10_101)  # 10,000 on each day
    parser.add_argument("--expired", type=int, default=100_000)
    options = parser.parse_args()
    with database() as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        began = time.perf_counter()
        connection.execute(FILL, {"entities": options.entities})
        connection.execute("vacuum analyze")
        rows = connection.execute("select count(*) from tips_daily_entity_snapshots").fetchone()
        assert rows
        print(f"loaded: {rows[0]} snapshots of {DAYS} days, ledger kept, {time.perf_counter() - began:.0f} s")
        connection.execute("set role service_role")
        diffs(connection)
        coverage(connection)
        connection.execute("reset role")
        writes(connection)
        cleanup(dsn, connection, options.expired)


def diffs(connection: psycopg.Connection) -> None:
    days, found = timed(connection, "select desk_snapshot_diff_days('2026-11-29', '2026-11-30')", runs=12)
    raw, _ = timed(connection, RAW, runs=12)
    counts = {name: found[0][name] for name in ("added", "removed", "changed", "unchanged", "dialogs")}
    line(f"diff of two days, {found[0]['from_rows']} and {found[0]['to_rows']} entities", days, 60)
    print(f"diff of two days: {counts}; against counting the same rows {days / raw:.1f}")
    key = found[0]["rows"][0]["dialog_key"]
    one, _ = timed(connection, f"select desk_snapshot_diff('{key}', '2026-11-29', '2026-11-30')", runs=12)
    print(f"diff of one dialog, with payloads: {one:.1f} ms")


def coverage(connection: psycopg.Connection) -> None:
    calendar, _ = timed(connection, "select desk_snapshot_calendar('2026-11-17', '2026-11-30')", runs=5)
    days, _ = timed(connection, "select desk_snapshot_days('2026-11-17', '2026-11-30')", runs=5)
    page, _ = timed(connection, "select desk_snapshot_entities(p_date => '2026-11-30')", runs=5)
    expiry, _ = timed(connection, "select desk_snapshot_expiry()", runs=5)
    print(f"calendar: {calendar:.0f} ms; totals by day: {days:.0f} ms")
    print(f"entities of a day: {page:.0f} ms; expiry: {expiry:.0f} ms")


def writes(connection: psycopg.Connection) -> None:
    """What a sync of a hundred rows costs with and without the ledger's triggers."""
    some = "select id from tips_daily_entity_snapshots where sync_date = '2026-11-30' limit 100"
    touch = f"update tips_daily_entity_snapshots set content_hash = md5(random()::text) where id in ({some})"
    kept, _ = timed(connection, touch, runs=9, result=False)
    connection.execute("alter table tips_daily_entity_snapshots disable trigger user")
    bare, _ = timed(connection, touch, runs=9, result=False)
    connection.execute("alter table tips_daily_entity_snapshots enable trigger user")
    print(f"100 rows written again: {kept:.1f} ms, without triggers {bare:.1f} ms")


def cleanup(dsn: str, connection: psycopg.Connection, rows: int) -> None:
    connection.execute(EXPIRED, {"rows": rows})
    connection.execute("analyze tips_daily_entity_snapshots")
    connection.execute("set role service_role")
    alone = statistics.median(_read(connection) for _ in range(15))
    deleted = batches = 0
    slowest = 0.0
    with reader(dsn) as times:
        began = time.perf_counter()
        while True:
            start = time.perf_counter()
            found = connection.execute("select desk_cleanup_snapshots()").fetchone()
            assert found
            if not found[0]["deleted"]:
                break
            slowest = max(slowest, time.perf_counter() - start)
            deleted, batches = deleted + found[0]["deleted"], batches + 1
        took = time.perf_counter() - began
    line(f"clean-up of {deleted} expired rows", took * 1000, 5_000)
    print(f"clean-up: {batches} batches, slowest {slowest * 1000:.0f} ms")
    print(
        f"a reader beside it: median {statistics.median(times) * 1000:.1f} ms, worst {max(times) * 1000:.0f} ms, "
        f"alone {alone * 1000:.1f} ms"
    )


@contextmanager
def reader(dsn: str) -> Iterator[list[float]]:
    """Somebody who reads the same table all the while: seconds of each read."""
    times: list[float] = []
    done = threading.Event()

    def read() -> None:
        with psycopg.connect(dsn, autocommit=True) as other:
            while not done.is_set():
                times.append(_read(other))
                time.sleep(0.01)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield times
    finally:
        done.set()
        thread.join()


def _read(connection: psycopg.Connection) -> float:
    began = time.perf_counter()
    connection.execute("select count(*) from tips_daily_entity_snapshots where sync_date = '2026-11-30'").fetchone()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
