"""The companion under load: the bus, a day out of 1,000,000 events, streaks, chance: `python -m bench.companion`."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import psycopg

from bench.sql_shapes import line
from core.bootstrap import Core
from core.companion.contract import MetricDef
from core.companion.reflect.days import local_today
from core.companion.reflect.pairs import Series, find_pairs
from core.events.actor import system
from core.events.bus import Bus
from core.events.event import Event, Meta

BUS_EVENTS, HANDLERS = 10_000, 5
DAYS = 90
DAY_BUDGET_MS = 100.0
# What a busy desk logs: mostly searches and calls, some of everything else. The chain of hashes is left out: a load by
# way of the append function would take an hour, and nothing here reads it.
FILL = """
insert into companion_events (seq, prev_hash, hash, class, event_id, type, payload, ts, app_id, record_id, actor,
                              actor_kind, salt, content_hash)
select n, '', '', 'observation', gen_random_uuid(), k.type,
       jsonb_build_object(
           'dialog_key', md5((n %% 5000)::text), 'latency_ms', 20 + n %% 400, 'results', n %% 12,
           'fallback', n %% 40 = 0, 'total', 500 + n %% 4000, 'calls', 1 + n %% 5, 'quantity_ml', 250,
           'drink_type', (array['water', 'water', 'coffee', 'tea'])[1 + n %% 4], 'calories', 300 + n %% 500,
           'ok', n %% 50 <> 0, 'date', ((t.at at time zone 'UTC')::date)::text),
       t.at, k.app, md5(n::text), '{"kind": "system", "source": "stream", "principal_id": "system:stream"}', 'system',
       '', ''
from generate_series(1, %(rows)s) n
cross join lateral (select %(start)s::timestamptz + n * (%(days)s * interval '1 day' / %(rows)s) as at) t
cross join lateral (select
    (array['SearchPerformed', 'TokensLogged', 'SearchPerformed', 'TokensLogged', 'HealthChecked', 'SnapshotChanged',
           'DrinkLogged', 'MealLogged', 'TaskCompleted', 'PlaceVisited'])[1 + n %% 10] as type,
    (array['memory', 'usage', 'memory', 'usage', 'health', 'snapshots', 'drink', 'food', 'todo', 'places'])[1 + n %% 10]
        as app) k
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--worlds", type=int, default=200)
    given = parser.parse_args()
    bus()
    chance(given.worlds)
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        os.environ |= {"MEMORY_DESK_DATABASE": "embedded", "MEMORY_DESK_DATA_DIR": str(Path(folder) / "data")}
        os.environ |= {"MEMORY_DESK_DEMO": "off", "MEMORY_DESK_EMBEDDER": "test", "MEMORY_DESK_TZ": "Europe/Kyiv"}
        from core.bootstrap import build_core
        from core.config import load_settings

        # Nothing runs behind its back: retention would take out what is measured.
        with build_core(load_settings(), background=False) as core:
            assert core.local is not None
            with psycopg.connect(core.local.endpoint.dsn, autocommit=True) as connection:
                fill(connection, given.rows)
            day(core)
            reflect(core)


def bus() -> None:
    """10,000 events through 5 handlers: what an event costs its emitter, and until all are delivered."""
    heard = [0]
    events = [
        Event("TaskCompleted", {"task_id": str(n)}, Meta(str(n), datetime.now(UTC), "todo", system("stream"), "audit"))
        for n in range(BUS_EVENTS)
    ]

    def handler() -> Callable[[Event], None]:
        def handle(_: Event) -> None:
            heard[0] += 1

        return handle

    ours = Bus()
    for n in range(HANDLERS):
        ours.on("TaskCompleted", handler()) if n % 2 else ours.on_any(handler())
    began = time.perf_counter()
    for event in events:
        ours.emit(event)
    emitted = time.perf_counter()
    assert ours.wait_idle(60)
    done = time.perf_counter()
    assert heard[0] == BUS_EVENTS * HANDLERS and ours.counters.handler_errors == 0
    ours.close(1)
    each, all_ = (emitted - began) / BUS_EVENTS * 1e6, (done - began) / BUS_EVENTS * 1e6
    print(
        f"bus: {BUS_EVENTS:,} events through {HANDLERS} handlers: {each:.1f} µs an event to emit, {all_:.1f} µs in all"
    )


def chance(worlds: int) -> None:
    """Unrelated metrics: how many findings there are, with and without the stricter switch; and planted pairs."""
    rng = np.random.default_rng(2026)
    last = date(2026, 11, 29)

    def series(name: str, values: np.ndarray) -> Series:
        days = {last - timedelta(days=n): float(value) for n, value in enumerate(reversed(values))}
        return Series(MetricDef(name, name.partition(".")[0], name, ""), days, 100)

    def unrelated(n: int) -> np.ndarray:
        kinds = (rng.poisson(3, 60), rng.gamma(2, 400, 60), rng.binomial(1, 0.3, 60), rng.poisson(0.4, 60))
        return kinds[n % 4]

    began = time.perf_counter()
    strict = loose = with_any = found = 0
    for _ in range(worlds):
        given = [series(f"m{n % 6}.x{n}", unrelated(n)) for n in range(24)]
        pairs = find_pairs(given, last)
        strict, with_any = strict + len(pairs), with_any + bool(pairs)
        loose += len(find_pairs(given, last, strict=False))
        coffee = rng.poisson(3, 60)
        given += [series("p.coffee", coffee), series("q.done", 2 * coffee + rng.poisson(2, 60))]
        found += "corr:p.coffee:q.done" in {pair.id for pair in find_pairs(given, last)}
    took = (time.perf_counter() - began) / (3 * worlds) * 1000
    print(
        f"correlations in {worlds} worlds of 240 unrelated pairs: {strict} findings, {with_any} worlds with any "
        f"({with_any / worlds:.1%}); without Benjamini-Hochberg {loose / worlds:.1f} a world; planted found in "
        f"{found} of {worlds}; {took:.0f} ms a world"
    )


def fill(connection: psycopg.Connection, rows: int) -> None:
    began = time.perf_counter()
    # Without the indexes while the rows come, with them again afterwards.
    indexes = connection.execute(
        "select indexname, indexdef from pg_indexes where tablename = 'companion_events' and indexname not in"
        " (select conname from pg_constraint where conrelid = 'companion_events'::regclass)"
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f'drop index "{name}"')
    connection.execute(FILL, {"rows": rows, "days": DAYS, "start": datetime.now(UTC) - timedelta(DAYS)})
    for _, definition in indexes:
        connection.execute(definition)
    connection.execute(
        "insert into desk_meta (key, value) values ('events_head', jsonb_build_object('seq', %s::bigint, 'hash', ''))"
        " on conflict (key) do update set value = excluded.value",
        [rows],
    )
    connection.execute("vacuum analyze companion_events")
    print(f"loaded: {rows:,} events of {DAYS} days, {time.perf_counter() - began:.0f} s")


def day(core: Core) -> None:
    """The snapshot of today, nothing kept, and of each section by itself; then from what is kept."""
    companion = core.companion
    today = local_today(core.clock, core.settings.zone)
    for name in companion.projections.day(today).errors:
        print(f"day snapshot: the section {name} failed")
    times = []
    for _ in range(9):
        companion.projections.invalidate()
        began = time.perf_counter()
        companion.projections.day(today)
        times.append((time.perf_counter() - began) * 1000)
    line("day snapshot, nothing kept", statistics.median(times), DAY_BUDGET_MS)
    parts = []
    for module in companion.modules:
        took = []
        for _ in range(5):
            began = time.perf_counter()
            module.section.build(today)
            took.append((time.perf_counter() - began) * 1000)
        parts.append((statistics.median(took), module.name))
    print(
        "  its sections one by one: " + ", ".join(f"{name} {took:.0f} ms" for took, name in sorted(parts, reverse=True))
    )
    began = time.perf_counter()
    for _ in range(200):
        companion.projections.day(today)
    print(f"day snapshot, kept: {(time.perf_counter() - began) / 200 * 1000:.2f} ms")


def reflect(core: Core) -> None:
    """What the daily job does, and what one event costs the streaks."""
    companion = core.companion
    companion.streaks.settle()
    for name, step in (
        (f"streaks rebuilt, {DAYS} days, {len(companion.streaks.all())} streaks", companion.streaks.rebuild),
        (
            "streaks after one event",
            lambda: (core.events.emit("TaskCompleted", {"task_id": "t"}), companion.streaks.settle()),
        ),
        ("streaks shown", companion.streaks.all),
        ("correlations computed", companion.correlations.compute),
        ("scan with nothing new", companion.scanner.scan),
    ):
        began = time.perf_counter()
        answer = step()
        print(
            f"{name}: {(time.perf_counter() - began) * 1000:.0f} ms"
            + (f" {answer}" if isinstance(answer, dict) else "")
        )


if __name__ == "__main__":
    main()
