"""Usage over 1,000,000 calls of 180 days: totals, lists, writes, the page: `python -m bench.usage [--rows N]`."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from bench.sql_shapes import line, timed

ROOT = Path(__file__).parent.parent
DAYS = 180
CALLS = 5  # of a request
BUDGET_MS, PAGE_BUDGET_MS = 20, 2000
# Dialogs differ in size; a request's calls are seconds apart; one in fifty names no model; some think, some are cached.
FILL = """
insert into token_usage_log (at, request_id, dialog_key, provider, model, phase, prompt_tokens, completion_tokens,
                             total_tokens, cached_tokens)
select %(start)s::timestamptz + r * (%(days)s * interval '1 day' / %(requests)s) + k * interval '2 seconds',
       md5(r::text)::uuid, encode(sha256(convert_to('d' || (r::bigint * 7919 %% (1 + r %% 10000)), 'UTF8')), 'hex'),
       case when k = 4 then 'xai' else 'gemini' end,
       case when r %% 50 = 0 then 'unknown'
            else (array['gemini-embedding-001', 'gemini-2.5-flash', 'gemini-2.5-flash', 'gemini-2.5-pro',
                        'grok-4'])[1 + k] end,
       (array['embed', 'context', 'draft-batch', 'evaluate', 'generate'])[1 + k],
       (r * 31 + k * 17) %% 5000, case when k > 0 then (r * 13 + k) %% 900 end,
       (r * 31 + k * 17) %% 5000 + case when k > 0 then (r * 13 + k) %% 900 else 0 end
           + case when r %% 9 = 0 then 100 else 0 end,
       case when k = 1 then 100 end
from generate_series(0, %(requests)s - 1) r, generate_series(0, %(calls)s - 1) k
"""
RAW = """select provider, model, phase, count(*), sum(prompt_tokens), coalesce(sum(completion_tokens), 0),
       sum(total_tokens)
from token_usage_log where at >= %s and at < %s group by 1, 2, 3"""
SUMMARY = "select desk_usage_summary(%s, %s, %s, %s)"
ONE = """insert into token_usage_log (request_id, dialog_key, provider, model, phase, prompt_tokens, total_tokens)
select gen_random_uuid(), 'bench', 'gemini', 'gemini-2.5-flash', 'context', i, i from generate_series(1, {}) i"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        os.environ |= {"MEMORY_DESK_DATABASE": "embedded", "MEMORY_DESK_DATA_DIR": str(Path(folder) / "data")}
        os.environ |= {"MEMORY_DESK_DEMO": "off", "MEMORY_DESK_EMBEDDER": "test", "MEMORY_DESK_TZ": "Europe/Kyiv"}
        from pages._shared.resources import core

        built = core()
        assert built.local is not None
        try:
            with psycopg.connect(built.local.endpoint.dsn, autocommit=True) as connection:
                end = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
                span = (end - timedelta(DAYS), end)
                fill(connection, rows, span[0])
                sums(connection, span)
                lists(connection, span)
                writes(connection)
            page()
        finally:
            built.close()


def fill(connection: psycopg.Connection, rows: int, start: datetime) -> None:
    connection.execute("alter table token_usage_log disable trigger user")
    given = {"start": start, "days": DAYS, "requests": rows // CALLS, "calls": CALLS}
    began = time.perf_counter()
    connection.execute(FILL, given)
    print(f"loaded: {rows:,} calls of {DAYS} days, {time.perf_counter() - began:.0f} s")
    connection.execute("alter table token_usage_log enable trigger user")
    took, _ = timed(connection, "select desk_rebuild_usage()")
    print(f"rebuild of the totals from nothing: {took / 1000:.1f} s")
    connection.execute("vacuum analyze")


def sums(connection: psycopg.Connection, span: tuple[datetime, datetime]) -> None:
    groups = ["provider", "model", "phase"]
    raw, _ = timed(connection, f"select json_agg(r) from ({RAW}) r", [span] * 4)
    ours, found = timed(connection, SUMMARY, [(*span, groups, "UTC")] * 12)
    line(f"usage by provider, model, phase, {DAYS} days", ours, BUDGET_MS)
    print(f"usage summary / the same from the rows ({raw:.0f} ms): {ours / raw:.4f}")
    counted = {row[:3]: tuple(map(int, row[3:])) for row in connection.execute(RAW, span)}
    rolled: dict[tuple[str, str, str], tuple[int, ...]] = {}
    for row in found[0]["rows"]:
        key = (row["provider"], row["model"], row["phase"])
        sums = tuple(row[name] for name in ("calls", "prompt", "completion", "total"))
        rolled[key] = tuple(a + b for a, b in zip(rolled.get(key, (0, 0, 0, 0)), sums, strict=True))
    print(f"equal to the token: {rolled == counted} ({sum(s[3] for s in rolled.values()):,} tokens)")
    took, checked = timed(connection, "select desk_check_usage()")
    print(f"totals = rows in all three tables: {checked[0]['equal']} ({took / 1000:.1f} s)")
    for name, days, by, zone in (
        ("by day (UTC)", DAYS, ["day", *groups], "UTC"),
        ("by day of Kyiv", 30, ["day", *groups], "Europe/Kyiv"),
        ("by hour", 7, ["hour", *groups], "Europe/Kyiv"),
    ):
        took, _ = timed(connection, SUMMARY, [(span[1] - timedelta(days), span[1], by, zone)] * 6)
        print(f"usage {name}, {days} days: {took:.1f} ms")


def lists(connection: psycopg.Connection, span: tuple[datetime, datetime]) -> None:
    month = (span[1] - timedelta(30), span[1])
    [(key,)] = connection.execute(
        "select dialog_key from desk_usage_dialog_hours group by 1 order by sum(calls) desc limit 1"
    ).fetchall()
    for name, statement, arguments in (
        ("dialogs by tokens, 30 days", "select desk_usage_dialogs(%s, %s)", month),
        (f"dialogs by tokens, {DAYS} days", "select desk_usage_dialogs(%s, %s)", span),
        ("requests by tokens, 30 days", "select desk_usage_requests(%s, %s)", month),
        ("requests of the largest dialog", "select desk_usage_requests(%s, %s, %s)", (*span, key)),
        ("usage of the largest dialog", "select desk_dialog_usage(%s)", (key,)),
        ("unusual hours, 30 days", "select desk_usage_anomalies(%s, %s, 'Europe/Kyiv')", month),
    ):
        took, _ = timed(connection, statement, [arguments] * 6)
        print(f"{name}: {took:.1f} ms")


def writes(connection: psycopg.Connection) -> None:
    """What the triggers cost a write of the service."""
    for number in (1, 5, 1000):
        kept, _ = timed(connection, ONE.format(number), runs=30, result=False)
        connection.execute("alter table token_usage_log disable trigger user")
        bare, _ = timed(connection, ONE.format(number), runs=30, result=False)
        connection.execute("alter table token_usage_log enable trigger user")
        print(f"insert of {number} rows: {kept:.2f} ms with triggers, {bare:.2f} ms without")
    connection.execute("delete from token_usage_log where dialog_key = 'bench'")
    timed(connection, "select desk_rebuild_usage()")


def page(runs: int = 5) -> None:
    """The Usage page in a new session each time, nothing cached, 30 and 180 days."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    for span in ("30d", "180d"):
        times: list[Any] = []
        for _ in range(runs):
            app = AppTest.from_file(str(ROOT / "pages" / "_shared" / "frame.py"), default_timeout=60).run()
            app.session_state["range"] = span
            st.cache_data.clear()
            began = time.perf_counter()
            app.switch_page(str(ROOT / "pages" / "usage.py")).run()
            times.append((time.perf_counter() - began) * 1000)
            assert not app.exception, app.exception
        line(f"Usage page, new session, {span}", statistics.median(times), PAGE_BUDGET_MS)


if __name__ == "__main__":
    main()
