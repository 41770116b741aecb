"""The SQL functions over a large synthetic memory: medians, ratios, recall: `python -m bench.sql_shapes [--rows N]`."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from bench.synthetic import MODEL, Dialog, Vectors, dialogs, load
from core.embedding.provider import to_pgvector
from core.local import migrate
from core.local.postgres import PostgresServer

MIGRATIONS = Path(__file__).parent.parent / "supabase" / "migrations"
WEIGHTS = json.dumps({"note": 0.18, "profile": 0.08, "photo": 0.05})
INDEX = (
    "create index client_memory_chunks_embedding_idx on client_memory_chunks"
    " using hnsw (embedding vector_cosine_ops) with (m = 16, ef_construction = 64)"
)
MATCH_BUDGET_MS = {100: 5, 1_000: 12, 10_000: 60}
MATCH = "select json_agg(m) from match_client_memory_chunks(%s::vector, %s, null, 'reply', 12, %s) m"
# The yardstick: every row of the dialog, sorted, no index on the vector, no function.
EXACT = """select c.id from client_memory_chunks c where c.dialog_key = %(key)s
order by 1 - (c.embedding <=> %(query)s::vector) + coalesce((%(weights)s::jsonb ->> c.source)::float8, 0) desc, c.id
limit 12"""
RAW_LIST = """select dialog_key, count(*), max(sent_at), max(note_date) from client_memory_chunks
group by 1 order by greatest(max(sent_at), max(note_date)) desc nulls last, 1 limit 25"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=120_000)
    parser.add_argument("--dialogs", type=int, default=10_000)
    options = parser.parse_args()
    with database() as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        wanted = dialogs(options.rows, min(options.dialogs, options.rows // 4))
        vectors = Vectors()
        fill(connection, wanted, vectors)
        connection.execute("set role service_role")
        sizes = {dialog.chunks: dialog for dialog in reversed(wanted) if dialog.chunks in MATCH_BUDGET_MS}
        per_dialog(connection, sizes, vectors)
        lists(connection)
        across(connection, vectors)
        rollups(connection, sizes)


@contextmanager
def database() -> Iterator[str]:
    """A migrated database on a server that is thrown away; superuser conninfo."""
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder) / "pg", durable=False)
        server.start()
        try:
            migrate.prepare(server.dsn())
            migrate.apply(server.dsn("postgres", "postgres"), MIGRATIONS)
            yield server.dsn()
        finally:
            server.stop()


def fill(connection: psycopg.Connection, wanted: list[Dialog], vectors: Vectors) -> None:
    connection.execute("drop index client_memory_chunks_embedding_idx")
    connection.execute("alter table client_memory_chunks disable trigger user")
    began = time.perf_counter()
    rows = load(connection, wanted, vectors)
    print(f"loaded: {rows} chunks in {len(wanted)} dialogs, {time.perf_counter() - began:.0f} s")
    connection.execute("alter table client_memory_chunks enable trigger user")
    connection.execute("set maintenance_work_mem = '1500MB'")
    began = time.perf_counter()
    connection.execute(INDEX)
    print(f"HNSW build: {time.perf_counter() - began:.0f} s")
    took, _ = timed(connection, "select desk_rebuild_rollups()", runs=1)
    print(f"rebuild of the rollup: {took:.0f} ms")
    connection.execute("vacuum analyze")


def per_dialog(connection: psycopg.Connection, sizes: dict[int, Dialog], vectors: Vectors) -> None:
    for size, dialog in sorted(sizes.items()):
        queries = [to_pgvector(v) for v in vectors.draw(20)]
        exact = [
            [row[0] for row in connection.execute(EXACT, {"query": q, "key": dialog.key, "weights": WEIGHTS})]
            for q in queries[:10]
        ]
        match, found = timed(connection, MATCH, [(q, dialog.key, WEIGHTS) for q in queries])
        equal = sum([r["id"] for r in found[i]] == [str(x) for x in exact[i]] for i in range(len(exact)))
        search, _ = timed(
            connection,
            "select desk_search(%s, %s, %s, 12, %s, null, 'reply')",
            [(dialog.key, q, MODEL, WEIGHTS) for q in queries],
        )
        candidates, answers = timed(
            connection, "select desk_candidates(%s, %s, %s)", [(dialog.key, q, MODEL) for q in queries]
        )
        line(f"match, {size} chunks", match, MATCH_BUDGET_MS[size])
        print(f"match equal to exact, {size} chunks: {equal} of {len(exact)} (all)")
        line(f"desk_search, {size} chunks", search, MATCH_BUDGET_MS[size])
        print(f"desk_search / match, {size} chunks: {search / match:.2f}")
        print(f"desk_candidates, {size} chunks: {candidates:.1f} ms, {len(json.dumps(answers[0])) / 1000:.0f} kB")
        page, _ = timed(connection, "select desk_dialog_chunks(%s)", [(dialog.key,)] * 5)
        print(f"desk_dialog_chunks, {size} chunks: {page:.1f} ms")


def lists(connection: psycopg.Connection) -> None:
    first, _ = timed(connection, "select desk_dialog_list()", runs=20)
    raw, _ = timed(connection, RAW_LIST, runs=3)
    line("dialog list, first page", first, 20)
    print(f"dialog list / the same from the chunks: {first / raw:.3f}")
    last, _ = timed(connection, "select desk_dialog_list(p_offset => 9000)", runs=10)
    found, _ = timed(connection, "select desk_dialog_list('ru-12', 'chunks')", runs=10)
    print(f"dialog list, far page: {last:.1f} ms; with a search: {found:.1f} ms")
    text, _ = timed(connection, "select desk_text_search('length that')", runs=3)
    overview, _ = timed(connection, "select desk_overview()", runs=5)
    pairs, _ = timed(connection, "select desk_ambiguous_pairs()", runs=5)
    print(f"text search: {text:.0f} ms; overview: {overview:.1f} ms; ambiguous pairs: {pairs:.1f} ms")


def across(connection: psycopg.Connection, vectors: Vectors) -> None:
    queries = [to_pgvector(v) for v in vectors.draw(30)]
    statement = "select desk_match_across(%s, %s, %s, 12, null, %s)"
    exact, right = timed(connection, statement, [(q, MODEL, WEIGHTS, 10_000_000) for q in queries])
    near, found = timed(connection, statement, [(q, MODEL, WEIGHTS, 20_000) for q in queries])
    recalls = [
        len({r["id"] for r in a["rows"]} & {r["id"] for r in b["rows"]}) / len(b["rows"])
        for a, b in zip(found, right, strict=True)
    ]
    print(f"across, exact over {right[0]['scanned']} rows: {exact:.0f} ms")
    print(f"across, {found[0]['method']}: {near:.1f} ms; against exact {near / exact:.3f}")
    print(f"across, recall@12: {statistics.mean(recalls):.3f} (0.99 measured before), worst {min(recalls):.2f}")


def rollups(connection: psycopg.Connection, sizes: dict[int, Dialog]) -> None:
    """What the triggers cost a write of the service, on its largest dialog."""
    key = max(sizes.items())[1].key
    some = f"select id from client_memory_chunks where dialog_key = '{key}' limit 100"
    touch = f"update client_memory_chunks set updated_at = clock_timestamp() where id in ({some})"
    kept, _ = timed(connection, touch, runs=5, result=False)
    moved, _ = timed(connection, touch.replace("set ", "set note_date = current_date, "), runs=5, result=False)
    connection.execute("reset role")
    connection.execute("alter table client_memory_chunks disable trigger user")
    bare, _ = timed(connection, touch, runs=5, result=False)
    connection.execute("alter table client_memory_chunks enable trigger user")
    timed(connection, "select desk_rebuild_rollups()")
    print(f"100 rows written again, with triggers: {kept:.0f} ms, dates changed {moved:.0f} ms, without {bare:.0f} ms")
    check, answer = timed(connection, "select desk_check_rollups()", runs=1)
    print(f"rollup = rows: {answer[0]['equal']} ({check:.0f} ms)")


def line(name: str, milliseconds: float, budget: float) -> None:
    print(f"{name}: {milliseconds:.1f} ms (budget {budget:g} ms), {milliseconds / budget:.2f} of it")


def timed(
    connection: psycopg.Connection,
    statement: str,
    rows: list[tuple[Any, ...]] | None = None,
    *,
    runs: int = 1,
    result: bool = True,
) -> tuple[float, list[Any]]:
    """Median milliseconds over the calls, the first one left out where there are more; and the single value of each."""
    calls: list[tuple[Any, ...]] = rows or [()] * (runs + (runs > 1))
    times, answers = [], []
    read: Callable[[psycopg.Cursor], Any] = (lambda c: c.fetchone()[0]) if result else (lambda c: c.rowcount)
    for parameters in calls:
        began = time.perf_counter()
        cursor = connection.execute(statement, parameters or None)
        answers.append(read(cursor))
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[1:] or times), answers


if __name__ == "__main__":
    main()
