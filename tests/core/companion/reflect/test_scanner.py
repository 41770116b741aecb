"""Events out of rows that another client writes straight into the tables."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.reflect.scanner import LONG_OVERLAP, Scanner
from core.db.client import Database
from core.events.emitter import Events
from core.events.event import Event
from core.events.store import StoredEvent
from core.local.server import Endpoint
from tests.support.companion_events import store
from tests.support.dialogs import body
from tests.support.snapshots import row, upstream

NOW = datetime.now(UTC).replace(microsecond=0)
BUCKET = datetime.fromtimestamp(int((NOW - timedelta(minutes=30)).timestamp()) // 300 * 300, UTC)
Sql = psycopg.Connection[Any]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def desk(endpoint: Endpoint, tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Database, Events]]:
    with store(endpoint, tmp_path, clock) as both:
        yield both


@pytest.fixture
def scanner(desk: tuple[Database, Events], clock: FixedClock) -> Scanner:
    return Scanner(*desk, clock)


@pytest.fixture
def sql(dsn: str) -> Iterator[Sql]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def chunk(
    sql: Sql, key: str, when: datetime, *, source: str = "note", text: str | None = None, demo: bool = False
) -> None:
    text = text or uuid.uuid4().hex
    sql.execute(
        "insert into client_memory_chunks (dialog_key, content_hash, source, source_id, text, embedding,"
        " embedding_model, updated_at, created_at, metadata) values (%s, %s, %s, '1', %s, %s, 'm:768', %s, %s, %s)",
        [
            key,
            hashlib.sha256(f"{key}{text}".encode()).hexdigest(),
            source,
            text,
            "[1" + ",0" * 767 + "]",
            when,
            when,
            '{"demo": "true"}' if demo else "{}",
        ],
    )


def call(sql: Sql, when: datetime, request: str | None, **columns: Any) -> None:
    values = {
        "at": when,
        "request_id": request,
        "dialog_key": "d1",
        "provider": "gemini",
        "model": "m-a",
        "phase": "context",
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        **columns,
    }
    names = ", ".join(values)
    sql.execute(
        f"insert into token_usage_log ({names}) values ({', '.join(['%s'] * len(values))})",  # type: ignore[arg-type]
        list(values.values()),
    )


def told(events: Events, type: str) -> list[StoredEvent]:
    return sorted(events.store.query(type=type, limit=1000).rows, key=lambda event: event.seq)


def request(n: int) -> str:
    return str(uuid.UUID(int=n))


def test_an_empty_database_has_nothing_to_tell(scanner: Scanner) -> None:
    """Each source is read."""
    assert scanner.scan() == {"chunks": 0, "snapshots": 0, "entities": 0, "tokens": 0, "failed": 0}


def test_chunks_become_one_event_per_dialog_and_five_minutes(
    scanner: Scanner, desk: tuple[Database, Events], sql: Sql
) -> None:
    """As the actor `stream`, at the time of the rows, without a text; a second run tells nothing."""
    for seconds, key, source in ((1, "a", "note"), (200, "a", "conversation"), (299, "a", "note"), (5, "b", "note")):
        chunk(sql, key, BUCKET + timedelta(seconds=seconds), source=source)
    chunk(sql, "a", BUCKET + timedelta(seconds=300))
    assert (scanner.scan()["chunks"], scanner.scan()["chunks"]) == (3, 0)
    first = told(desk[1], "DialogIngested")[0]
    assert first.payload == {
        "dialog_key": "a",
        "bucket": BUCKET.isoformat(),
        "upserted": 3,
        "by_source": {"note": 2, "conversation": 1},
        "model": "m:768",
    }
    assert (first.actor.source, first.record_id) == ("stream", "a")
    assert first.timestamp == BUCKET + timedelta(seconds=299)


def test_a_bucket_is_told_when_it_is_over(
    scanner: Scanner, desk: tuple[Database, Events], sql: Sql, clock: FixedClock
) -> None:
    """Not while rows still come in."""
    chunk(sql, "a", BUCKET + timedelta(seconds=1))
    clock.at = BUCKET + timedelta(seconds=320)
    assert scanner.scan()["chunks"] == 0
    clock.at += timedelta(seconds=60)
    assert scanner.scan()["chunks"] == 1


def test_rows_that_come_in_late_are_not_lost(scanner: Scanner, desk: tuple[Database, Events], sql: Sql) -> None:
    """A transaction that was open for long, a clock behind by an hour, and one by a day: each is told, once."""
    chunk(sql, "a", BUCKET)
    scanner.scan()
    chunk(sql, "a", BUCKET + timedelta(seconds=9))
    chunk(sql, "a", BUCKET - timedelta(hours=1))
    chunk(sql, "a", BUCKET - timedelta(hours=30))
    assert scanner.scan()["chunks"] == 2
    assert scanner.scan(LONG_OVERLAP)["chunks"] == 1
    assert scanner.scan(LONG_OVERLAP)["chunks"] == 0
    assert sum(event.payload["upserted"] for event in told(desk[1], "DialogIngested")) == 4


def test_what_the_dashboard_wrote_is_not_told_again(core: Core, sql: Sql) -> None:
    """Its own ingest, also with the scanner looking hours later; another client's rows of that dialog are told."""
    core.ingest.ingest(body("own"))
    chunk(sql, "own", datetime.now(UTC) - timedelta(minutes=40))
    chunk(sql, "demo", datetime.now(UTC) - timedelta(minutes=40), demo=True)
    assert core.events.flush()
    later = Scanner(core.db, core.events, FixedClock(datetime.now(UTC) + timedelta(minutes=30)))
    assert later.scan()["chunks"] == 1
    ingests = told(core.events, "DialogIngested")
    assert Counter(event.actor.kind for event in ingests) == {"user": 1, "system": 1}
    assert ingests[-1].payload["upserted"] == 1


def test_snapshots_of_a_day(scanner: Scanner, desk: tuple[Database, Events], sql: Sql, clock: FixedClock) -> None:
    """Told once the dialog has been quiet: what is new, changed or the same as on its latest earlier day.

    A change names its fields and hashes, never a value; the marker is told by itself.
    """
    day, before = NOW.date().isoformat(), (NOW - timedelta(days=3)).date().isoformat()
    upstream(
        sql,
        row("d1", before, source_id="1", payload={"age": 34, "city": "Lviv"}),
        row("d1", before, source_id="2", payload={"text": "x"}),
    )
    clock.at = datetime.now(UTC) + timedelta(seconds=1)
    assert scanner.scan()["snapshots"] == 0
    clock.at += timedelta(minutes=6)
    assert scanner.scan()["snapshots"] == 1
    upstream(
        sql,
        row("d1", day, source_id="1", payload={"age": 35, "city": "Lviv", "odd name": 1}),
        row("d1", day, source_id="2", payload={"text": "x"}),
        row("d1", day, source_id="3", payload={"text": "new"}),
        row("d1", day, entity_type="daily_sync", source_id="daily-sync", payload={"completedAt": NOW.isoformat()}),
    )
    clock.at += timedelta(minutes=6)
    assert {k: v for k, v in scanner.scan().items() if v} == {"snapshots": 1, "entities": 2}
    assert not any(scanner.scan().values())
    synced = told(desk[1], "SnapshotsSynced")
    sums = [[event.payload[name] for name in ("sync_date", "new", "changed", "unchanged")] for event in synced]
    assert sums == [[before, 2, 0, 0], [day, 1, 1, 1]]
    [change] = told(desk[1], "SnapshotChanged")
    assert change.payload["changed_fields"] == ["age"] and change.payload["prev_date"] == before
    assert "Lviv" not in str(change.payload) and change.payload["prev_hash"] != change.payload["new_hash"]
    [done] = told(desk[1], "DailySyncCompleted")
    assert done.payload == {"dialog_key": "d1", "sync_date": day, "completed_at": NOW.isoformat()}


def test_a_snapshot_written_again_is_told_if_it_changed(
    scanner: Scanner, desk: tuple[Database, Events], sql: Sql, clock: FixedClock
) -> None:
    """The same content again is nothing; other content is another change, of the same day."""
    day, before = NOW.date().isoformat(), (NOW - timedelta(days=1)).date().isoformat()
    upstream(sql, row("d1", before, payload={"v": 1}), row("d1", day, payload={"v": 2}))
    clock.at = datetime.now(UTC) + timedelta(minutes=6)
    scanner.scan()
    for hash_, changes in (("other", 2), ("other", 2), ("third", 3)):
        sql.execute("update tips_daily_entity_snapshots set content_hash = %s where sync_date = %s", [hash_, day])
        clock.at += timedelta(minutes=6)
        assert scanner.scan()["snapshots"] == 0
        assert len(told(desk[1], "SnapshotChanged")) == changes


def test_what_the_dashboard_captured_is_not_told_as_synced(core: Core, sql: Sql) -> None:
    """It told so itself; that an entity changed nobody has told."""
    from core.snapshots.rows import Snapshot
    from core.snapshots.store import SnapshotStore

    day, before = NOW.date().isoformat(), (NOW - timedelta(days=1)).date().isoformat()
    for when, value in ((before, 1), (day, 2)):
        SnapshotStore(core.db).capture([Snapshot("d1", when, "note", "", "1", {"v": value})])
    later = Scanner(core.db, core.events, FixedClock(datetime.now(UTC) + timedelta(minutes=30)))
    found = later.scan()
    assert (found["snapshots"], found["entities"]) == (0, 1)


def test_calls_become_one_event_per_request(scanner: Scanner, desk: tuple[Database, Events], sql: Sql) -> None:
    """Once it has been quiet for a minute; unknown models are counted, and odd phases named plainly."""
    call(sql, NOW - timedelta(minutes=5), request(1))
    call(sql, NOW - timedelta(minutes=4), request(1), phase="generate", model="unknown", provider="n8n")
    call(sql, NOW - timedelta(seconds=30), request(2), phase="draft batch")
    assert (scanner.scan()["tokens"], scanner.scan()["tokens"]) == (1, 0)
    [event] = told(desk[1], "TokensLogged")
    assert event.record_id == request(1) and event.timestamp == NOW - timedelta(minutes=4)
    assert event.payload == {
        "request_id": request(1),
        "dialog_key": "d1",
        "calls": 2,
        "prompt": 20,
        "completion": 10,
        "total": 30,
        "by_phase": {"context": 1, "generate": 1},
        "by_model": {"m-a": 1, "unknown": 1},
        "unknown_calls": 1,
        "estimated_calls": 1,
        "estimated": True,
    }


def test_calls_that_the_dashboard_logged_are_not_told_again(core: Core, sql: Sql) -> None:
    """Those that another client adds to the request later are, by themselves."""
    entry = {"provider": "gemini", "model": "m-a", "phase": "embed", "promptTokens": 7, "totalTokens": 7}
    core.usage.record({"requestId": request(1), "dialogKey": "d1", "entries": [entry]})
    later = Scanner(core.db, core.events, FixedClock(datetime.now(UTC) + timedelta(minutes=30)))
    assert later.scan()["tokens"] == 0
    call(sql, datetime.now(UTC), request(1))
    assert (later.scan()["tokens"], later.scan()["tokens"]) == (1, 0)
    rest = told(core.events, "TokensLogged")[-1]
    assert (rest.payload["calls"], rest.payload["total"], rest.actor.source) == (1, 15, "stream")


def test_a_busy_day_is_told_by_the_hour(desk: tuple[Database, Events], sql: Sql, clock: FixedClock) -> None:
    """From so many requests on, or it would push everything else out of the store; no call is counted twice."""
    scanner = Scanner(*desk, clock, tokens_a_day=5)
    clock.at = datetime(NOW.year, NOW.month, NOW.day, 12, 30, tzinfo=UTC)
    for n in range(4):
        call(sql, clock.at - timedelta(hours=3), request(n + 1))
    assert scanner.scan()["tokens"] == 4
    for n in range(40):
        call(sql, clock.at - timedelta(hours=1, minutes=n), request(n + 100))
    for _ in range(3):
        scanner.scan()
        clock.at += timedelta(hours=1)
    for n in range(3):  # the beginning of the day is out of sight now
        call(sql, clock.at - timedelta(minutes=70), request(n + 200))
    call(sql, clock.at - timedelta(minutes=70), None)
    for _ in range(3):
        clock.at += timedelta(hours=1)
        scanner.scan()
    events = told(desk[1], "TokensLogged")
    assert sum(event.payload["calls"] for event in events) == 48
    assert sum(event.payload["total"] for event in events) == 48 * 15
    assert len([event for event in events if "request_id" in event.payload]) == 4
    hours = [event for event in events if "hour" in event.payload]
    assert 2 <= len(hours) <= 5 and sum(event.payload["requests"] for event in hours) == 43


def test_batch_after_batch(scanner: Scanner, desk: tuple[Database, Events], sql: Sql) -> None:
    """More than one answer holds, in each source."""
    sql.execute(
        "insert into token_usage_log (at, request_id, provider, model, phase, prompt_tokens, total_tokens)"
        " select %s, md5(n::text)::uuid, 'gemini', 'm', 'embed', 1, 1 from generate_series(1, 1203) n",
        [NOW - timedelta(minutes=9)],
    )
    sql.execute(
        "insert into tips_daily_entity_snapshots (dialog_key, sync_date, entity_type, source_id, content_hash,"
        " updated_at) select 'd' || n, %s, 'daily_sync', 'daily-sync', 'h', %s from generate_series(1, 1203) n",
        [NOW.date(), NOW - timedelta(minutes=9)],
    )
    found = scanner.scan()
    assert (found["tokens"], found["entities"]) == (1203, 1203)
    assert not any(scanner.scan().values())


def test_two_processes_at_once_tell_it_once(desk: tuple[Database, Events], sql: Sql, clock: FixedClock) -> None:
    """And each is told to the handlers of one of them only."""
    for n in range(30):
        call(sql, NOW - timedelta(minutes=5), request(n + 1))
        chunk(sql, f"k{n}", BUCKET)
    heard: list[Event] = []
    desk[1].on_any(heard.append)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: Scanner(*desk, clock).scan(), range(4)))
    assert sum(each["tokens"] for each in found) == sum(each["chunks"] for each in found) == 30
    assert desk[1].flush()
    assert len(heard) == len({event.meta.id for event in heard}) == 60


def test_one_source_that_fails_leaves_the_others(scanner: Scanner, desk: tuple[Database, Events], sql: Sql) -> None:
    """It begins where it was the next time."""
    call(sql, NOW - timedelta(minutes=5), request(1))
    chunk(sql, "a", BUCKET)
    sql.execute("alter function companion_scan_chunks rename to gone")
    try:
        found = scanner.scan()
    finally:
        sql.execute("alter function gone rename to companion_scan_chunks")
    assert (found["tokens"], found["failed"]) == (1, 1) and "chunks" not in found
    assert scanner.scan()["chunks"] == 1
