"""Recording: once, also twice; on disk while the database is away, through a kill -9, once in the table afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.clock import SystemClock
from core.db.client import Database
from core.events.emitter import Events, open_events
from core.local.server import Endpoint, LocalSupabase
from core.usage.usage import Usage
from tests.support.acting import as_operator

REQUEST = "6f1c2a7e-0000-4000-8000-000000000001"
BODY: dict[str, Any] = {
    "requestId": REQUEST,
    "dialogKey": "d",
    "entries": [
        {
            "provider": "gemini",
            "model": "m-a",
            "phase": "embed",
            "promptTokens": 10,
            "completionTokens": 0,
            "totalTokens": 10,
        },
        {"provider": "xai", "model": "m-b", "phase": "generate", "promptTokens": 5, "completionTokens": 5}
        | {"totalTokens": 10, "cachedTokens": 2, "at": "2026-11-29T10:00:00Z"},
    ],
}
NOWHERE = "http://127.0.0.1:9"
ROOT = Path(__file__).resolve().parents[3]


def another(n: int) -> dict[str, Any]:
    return {**BODY, "requestId": REQUEST[:-4] + f"{n:04d}"}


@pytest.fixture
def away(tmp_path: Path) -> Iterator[tuple[Usage, Events]]:
    """A recorder whose database does not answer, with a spool in tmp_path."""
    db = Database(NOWHERE, "key", timeout_s=1, write_timeout_s=1)
    events = open_events(db, tmp_path / "spool", SystemClock())
    usage = Usage(db, events, SystemClock())
    yield usage, events
    usage.close(0.1)
    events.close(0.1)
    db.close()


def test_twice_is_once(core: Core, dsn: str) -> None:
    """The same body again is counted as there already; another phase of the request is added (case 18)."""
    assert core.usage.record(BODY).as_json() == {"written": 2, "present": 0, "spooled": 0, "estimated": 0}
    assert core.usage.record(BODY).as_json() == {"written": 0, "present": 2, "spooled": 0, "estimated": 0}
    more = {**BODY, "entries": [*BODY["entries"], {**BODY["entries"][0], "phase": "repair"}]}
    assert core.usage.record(more).as_json() == {"written": 1, "present": 2, "spooled": 0, "estimated": 0}
    assert core.usage.recorder.dialog_usage("d").as_json() == {"calls": 3, "prompt": 25, "completion": 5, "total": 30}


def test_an_entry_without_a_moment_is_of_now(core: Core, dsn: str) -> None:
    """In one batch with an entry that has one: its `at` is now and not null (case 8)."""
    core.usage.record(BODY)
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("select phase, at, cached_tokens from token_usage_log order by phase").fetchall()
    assert [row[2] for row in rows] == [None, 2]
    assert abs((datetime.now(UTC) - rows[0][1]).total_seconds()) < 60
    assert rows[1][1] == datetime(2026, 11, 29, 10, tzinfo=UTC)


def test_one_event_for_a_request(core: Core) -> None:
    """TokensLogged says how much, once; a retry says nothing."""
    core.usage.record(BODY)
    core.usage.record(BODY)
    core.events.flush()
    [event] = core.events.store.query(type="TokensLogged").rows
    assert event.payload == {
        "request_id": REQUEST,
        "dialog_key": "d",
        "calls": 2,
        "by_phase": {"embed": 1, "generate": 1},
        "prompt": 15,
        "completion": 5,
        "total": 20,
        "estimated": False,
    }


def test_eight_writers(core: Core) -> None:
    """Eight threads, each with bodies of its own and one that all share: rows once, rollup equal."""
    threads = [
        threading.Thread(
            target=as_operator(
                lambda n=n: [core.usage.record(another(n * 10 + i)) for i in range(5)] + [core.usage.record(BODY)]
            )
        )
        for n in range(1, 9)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    core.usage.recorder.flush()
    assert core.usage.recorder.dialog_usage("d").calls == 2 * (8 * 5 + 1)
    checked = core.usage.check()
    assert checked["equal"] or checked["stale"]


def test_a_database_that_is_away_does_not_fail_the_request(away: tuple[Usage, Events]) -> None:
    """The rows wait on disk, the answer says so, and the next request does not wait for the database again."""
    usage, _ = away
    assert usage.record(BODY).as_json() == {"written": 0, "present": 0, "spooled": 2, "estimated": 0}
    assert usage.record({"requestId": another(2)["requestId"], "promptText": "abc"}).as_json() == {
        "written": 0,
        "present": 0,
        "spooled": 1,
        "estimated": 1,
    }
    assert usage.waiting().depth.waiting == 3


def test_waiting_rows_are_in_the_dialog_usage(away: tuple[Usage, Events], endpoint: Endpoint, tmp_path: Path) -> None:
    """Another process with the same spool counts what waits, from `since` on, and once when it is written (case 18)."""
    usage, _ = away
    usage.record(BODY)
    db = Database(endpoint.url, endpoint.service_role_key)
    events = open_events(db, tmp_path / "spool", SystemClock())
    other = Usage(db, events, SystemClock())
    try:
        found = other.recorder.dialog_usage("d")
        assert (found.calls, found.total, found.waiting) == (2, 20, 2)
        assert other.recorder.dialog_usage("d", datetime(2026, 11, 29, 10, tzinfo=UTC)).calls == 2
        assert other.recorder.dialog_usage("d", datetime(2026, 11, 29, 10, 0, 1, tzinfo=UTC)).calls == 1
        assert other.record(BODY).written == 2  # the database is back for this one
        found = other.recorder.dialog_usage("d")
        assert (found.calls, found.total, found.waiting) == (2, 20, 0)
    finally:
        other.close()
        events.close()
        db.close()


def test_nothing_personal_but_ids_on_disk(away: tuple[Usage, Events], tmp_path: Path) -> None:
    """Texts are counted and thrown away; the files are for their owner alone."""
    usage, _ = away
    usage.record({"requestId": REQUEST, "promptText": "a secret of hers", "completionText": "and his"})
    files = list((tmp_path / "spool").glob("usage~*.jsonl"))
    assert files
    assert all(b"secret" not in f.read_bytes() and f.stat().st_mode & 0o077 == 0 for f in files)


KILLED = """
import os, signal, sys
from pathlib import Path
from core.clock import SystemClock
from core.db.client import Database
from core.events.emitter import open_events
from core.usage.usage import Usage
db = Database({url!r}, "key", timeout_s=1, write_timeout_s=1)
usage = Usage(db, open_events(db, Path({spool!r}), SystemClock()), SystemClock())
print(usage.record({body!r}).as_json()["spooled"], flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_down_then_killed_then_back(fresh_supabase: LocalSupabase, tmp_path: Path) -> None:
    """The database is down: the request succeeds, its rows outlive kill -9 and are there once when it is back."""
    spool = tmp_path / "spool"
    for _ in range(2):  # and the caller, who never got an answer, sends it again to the next process
        script = textwrap.dedent(KILLED).format(url=NOWHERE, spool=str(spool), body=BODY)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert done.stdout.strip() == "2"
    assert sum(f.read_bytes().count(b"\n") for f in spool.glob("usage~*.jsonl")) == 4
    db = Database(fresh_supabase.endpoint.url, fresh_supabase.endpoint.service_role_key)
    events = open_events(db, spool, SystemClock())
    usage = Usage(db, events, SystemClock())
    try:
        assert usage.recorder.flush(10)
        assert usage.waiting().depth.waiting == 0
        assert usage.recorder.dialog_usage("d").as_json() == {"calls": 2, "prompt": 15, "completion": 5, "total": 20}
        assert usage.check()["equal"]
    finally:
        usage.close()
        events.close()
        db.close()


def test_written_at_close(endpoint: Endpoint, tmp_path: Path) -> None:
    """What waited is written when the process ends in an orderly way."""
    db = Database(endpoint.url, endpoint.service_role_key)
    events = open_events(db, tmp_path / "spool", SystemClock())
    usage = Usage(db, events, SystemClock())
    usage.recorder.drain.failing_since = 1.0  # as after a failure: to the disk at once
    assert usage.record(BODY).spooled == 2
    usage.close()
    assert events.spool.depth("usage").waiting == 0
    assert db.count("token_usage_log") == 2
    events.close()
    db.close()
    assert not list((tmp_path / "spool").iterdir())
