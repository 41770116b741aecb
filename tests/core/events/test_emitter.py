"""One door for every emission: on disk when it returns, quick, and quiet about what goes wrong behind it."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from core.clock import FixedClock
from core.db.client import Database
from core.events.actor import LOCAL_OPERATOR, run_as, system, user
from core.events.emitter import Events, open_events
from core.events.event import Event

ROOT = Path(__file__).parents[3]
CLOCK = FixedClock(datetime(2026, 11, 30, 14, 2, tzinfo=UTC))


class Server:
    """Answers companion_append_events, idempotent by id; away on demand."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, object]] = {}
        self.away = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.away:
            raise httpx.ConnectError("away")
        rows = {row["event_id"]: row for row in json.loads(request.content)["p_events"]}
        new = {k: v for k, v in rows.items() if k not in self.rows}
        self.rows |= new
        return httpx.Response(200, json={"inserted": len(new)})

    @property
    def types(self) -> list[object]:
        return [row["type"] for row in self.rows.values()]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def events(server: Server, tmp_path: Path) -> Iterator[Events]:
    db = Database("http://127.0.0.1:5001", "sb_secret_k", transport=httpx.MockTransport(server))
    opened = open_events(db, tmp_path / "spool", CLOCK)
    yield opened
    opened.close(2)


def _searched(**more: object) -> dict[str, object]:
    return {"dialog_key": "k", "query_hash": "ab12", "results": 3, **more}


def test_an_event_reaches_handlers_and_table(events: Events, server: Server) -> None:
    """With its id, instant, class and actor."""
    seen: list[Event] = []
    events.on("SearchPerformed", seen.append)
    event = events.emit("SearchPerformed", _searched(), record_id="k", collection="client_memory_chunks")
    assert event is not None and events.flush()
    assert seen == [event]
    row = server.rows[event.meta.id]
    assert row["ts"] == "2026-11-30T14:02:00+00:00"
    assert (row["class"], row["app_id"], row["record_id"]) == ("observation", "memory", "k")
    assert (row["actor"], row["user_id"]) == (LOCAL_OPERATOR.as_json(), "local")


def test_the_order_of_precedence(events: Events) -> None:
    """Case 9: explicit beats ambient beats default."""
    anna, bob = user("anna", "Anna"), user("bob", "Bob")
    assert events.prepare("SearchEmpty", {}).meta.actor == LOCAL_OPERATOR
    with run_as(anna):
        assert events.prepare("SearchEmpty", {}).meta.actor == anna
        assert events.prepare("SearchEmpty", {}, actor=bob).meta.actor == bob
    assert events.prepare("SearchEmpty", {}, actor=system("bootstrap")).meta.user_id is None


def test_the_actor_is_captured_at_the_emission(events: Events) -> None:
    """Case 8: delivered later, outside `run_as`, by another thread, it is still that actor's."""
    go_on = threading.Event()
    seen: list[str] = []
    events.on("SearchEmpty", lambda e: go_on.wait(5) and seen.append(e.meta.actor.principal_id))
    with run_as(user("anna")):
        events.emit("SearchEmpty", {})
    with run_as(user("bob")):
        go_on.set()
        assert events.flush()
    assert seen == ["anna"]


def test_the_cause_is_kept_and_filled_in(events: Events, server: Server) -> None:
    """Case 10: given by the emitter, or known because a handler emits."""
    events.on("SearchEmpty", lambda e: events.emit("IngestEmpty", {}) and None)
    cause = "5b3c2f0e-0000-4000-8000-000000000001"
    first = events.emit("SearchEmpty", {}, caused_by=cause)
    assert first is not None and first.meta.caused_by == cause
    assert events.flush()
    follow = next(row for row in server.rows.values() if row["type"] == "IngestEmpty")
    assert follow["caused_by"] == first.meta.id
    assert follow["actor_kind"] == "system"


def test_unknown_types_and_fields_are_bugs(events: Events) -> None:
    """They raise at once, so that a test meets them, and nothing is recorded."""
    with pytest.raises(ValueError):
        events.emit("SomethingHappened", {})
    with pytest.raises(ValueError):
        events.emit("SearchPerformed", _searched(query="he worries about trust"))
    with pytest.raises(ValueError):
        events.emit("SearchEmpty", {}, caused_by="the one before")
    assert events.spool.depth().waiting == 0


def test_unfit_values_are_left_out_with_a_word_in_the_log(events: Events, caplog: pytest.LogCaptureFixture) -> None:
    """The event counts, the odd value does not travel, and the log names the field alone."""
    event = events.emit("SearchPerformed", _searched(model="he worries about trust", top_score=float("inf")))
    assert event is not None and dict(event.payload) == _searched()
    assert "model, top_score" in caplog.text and "worries" not in caplog.text


def test_a_record_id_that_no_database_text_may_hold_is_left_out(events: Events, server: Server) -> None:
    """A dialog key comes from outside; a NUL or half a character in it loses neither the event nor the batch."""
    for key in ("k\x00", "k\ud800", "x" * 600):
        event = events.emit("SearchEmpty", {"dialog_key": key}, record_id=key)
        assert event is not None and (event.meta.record_id, dict(event.payload)) == (None, {})
    assert events.flush() and len(server.rows) == 3


def test_emit_raises_nothing_of_what_goes_wrong_behind_it(
    events: Events, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Database away, disk full, handler broken, spool broken: the caller goes on."""
    server.away = True

    def broken(event: Event) -> None:
        raise RuntimeError

    events.on_any(broken)
    monkeypatch.setattr("os.write", lambda fd, data: (_ for _ in ()).throw(OSError(28, "full")))
    assert events.emit("SearchEmpty", {}) is not None
    monkeypatch.undo()
    assert events.spool.depth().in_memory == 1
    monkeypatch.setattr(events.spool, "append", lambda record: 1 / 0)
    assert events.emit("SearchEmpty", {}) is None
    monkeypatch.undo()
    server.away = False
    assert events.flush()
    assert server.types == ["SearchEmpty"]


def test_an_announced_event_is_delivered_and_not_stored_again(events: Events, server: Server) -> None:
    """A SQL function that deletes stores its own event in the same transaction."""
    seen: list[Event] = []
    events.on("DemoRemoved", seen.append)
    event = events.prepare("DemoRemoved", {"chunks": 4})
    events.announce(event)
    assert events.flush()
    assert seen == [event] and server.rows == {}


def test_events_of_one_instant_keep_their_order(events: Events, server: Server) -> None:
    """Case 12, on this side of the database: 300 events under a clock that stands still."""
    for n in range(300):
        events.emit("SearchPerformed", {"results": n})
    assert events.flush(10)
    assert [row["payload"]["results"] for row in server.rows.values()] == list(range(300))  # type: ignore[index]


def test_a_process_without_database_leaves_its_events_to_the_next(server: Server, tmp_path: Path) -> None:
    """They are written at the next start, before anything is emitted."""
    server.away = True
    db = Database("http://127.0.0.1:5001", "sb_secret_k", transport=httpx.MockTransport(server))
    first = open_events(db, tmp_path / "spool", CLOCK)
    first.emit("SearchEmpty", {})
    assert not first.close(2)
    server.away = False
    second = open_events(db, tmp_path / "spool", CLOCK)
    until = time.monotonic() + 5
    while not server.rows and time.monotonic() < until:
        time.sleep(0.02)
    assert server.types == ["SearchEmpty"]
    second.close(2)


def test_kill_9_loses_no_emitted_event(server: Server, tmp_path: Path) -> None:
    """EV-23: emitted with no database in reach, killed at once, all there after the next start."""
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from core.clock import SystemClock; from core.db.client import Database\n"
        "from core.events.emitter import open_events\n"
        "events = open_events(Database('http://127.0.0.1:9', 'sb_secret_k'), Path(sys.argv[1]), SystemClock())\n"
        "for n in range(200): events.emit('SearchPerformed', {'results': n})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, timeout=60)
    assert done.returncode == -signal.SIGKILL
    db = Database("http://127.0.0.1:5001", "sb_secret_k", transport=httpx.MockTransport(server))
    events = open_events(db, tmp_path, CLOCK)
    assert events.flush(10)
    assert [row["payload"]["results"] for row in server.rows.values()] == list(range(200))  # type: ignore[index]
    events.close(2)


def test_an_emission_costs_the_caller_less_than_a_millisecond(events: Events) -> None:
    """Median of 500, with the background threads at work."""
    events.emit("SearchPerformed", _searched())
    taken = []
    for n in range(500):
        began = time.perf_counter()
        events.emit("SearchPerformed", _searched(results=n))
        taken.append(time.perf_counter() - began)
    assert statistics.median(taken) < 0.001


def test_an_event_after_close_waits_on_disk(events: Events, server: Server) -> None:
    """The last words of a process that shuts down are not lost."""
    events.close(2)
    assert events.emit("SearchEmpty", {}) is not None
    assert events.spool.depth().waiting == 1
    assert server.rows == {}
