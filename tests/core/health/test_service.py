"""The whole look: against the embedded Supabase, with pieces missing, and with answers that do not come."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest

from core.clock import FixedClock
from core.db.client import Database
from core.events.emitter import open_events
from core.health.daily import DailyChecks
from core.health.judging import COMPONENTS
from core.health.service import HealthService
from core.local.migrate import read_migrations

if TYPE_CHECKING:
    from core.local.server import Endpoint

MIGRATIONS = Path(__file__).parents[3] / "supabase" / "migrations"
CLOCK = FixedClock(datetime(2026, 11, 30, 14, 2, tzinfo=UTC))


def _service(db: Database, **options: Any) -> HealthService:
    settings: dict[str, Any] = {
        "embedded": True,
        "migrations": read_migrations(MIGRATIONS),
        "model": lambda: "test:768",
    }
    return HealthService(db, options.pop("clock", CLOCK), **{**settings, **options})


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


def _mocked(handler: Callable[[httpx.Request], httpx.Response]) -> Database:
    return Database("http://127.0.0.1:5001", "sb_secret_k", transport=httpx.MockTransport(handler))


def test_a_sound_installation_is_ok(db: Database, tmp_path: Path) -> None:
    """Every component, in its order, with a sentence and a time."""
    events = open_events(db, tmp_path / "spool", CLOCK)
    DailyChecks(db, CLOCK).run()
    report = _service(db, events=events).report()
    assert [c.name for c in report.components] == [name for name in COMPONENTS if name != "webhook"]
    assert {c.name: (c.status, c.reason) for c in report.components if c.status != "ok"} == {}
    assert report.status == "ok" and report.reason == ""
    assert all(c.latency_ms > 0 for c in report.components)
    assert report.component("migrations").facts["pending"] == []
    assert report.component("index").facts["hnsw"]
    assert report.component("rollups").facts["equal"] is True
    events.close(2)


def test_a_public_key_sees_nothing_and_says_so(endpoint: Endpoint) -> None:
    """Not green: the key is named as the reason, whether the table is hidden or refused."""
    db = Database(endpoint.url, endpoint.anon_key)
    report = _service(db).report()
    assert report.status != "ok"
    assert "key" in f"{report.component('database').reason}{report.component('database').hint}"
    db.close()


def test_a_table_without_protection_is_red(db: Database, dsn: str) -> None:
    """Row-level security off and readable by anon: named, and the rest goes on."""
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "alter table token_usage_log disable row level security; grant select on token_usage_log to anon"
        )
    try:
        report = _service(db).report()
    finally:
        with psycopg.connect(dsn) as connection:
            connection.execute(
                "alter table token_usage_log enable row level security; revoke select on token_usage_log from anon"
            )
    assert report.component("protection").status == "down"
    assert "token_usage_log" in report.component("protection").reason
    assert report.status == "degraded"


def test_a_database_without_our_schema_says_migrate(db: Database, dsn: str) -> None:
    """A missing function is a matter of migrating, not of the network; what can be looked at is looked at."""
    with psycopg.connect(dsn) as connection:
        connection.execute("alter function desk_overview() rename to desk_overview_gone; notify pgrst, 'reload schema'")
    try:
        report = _service(db).report()
    finally:
        with psycopg.connect(dsn) as connection:
            connection.execute(
                "alter function desk_overview_gone() rename to desk_overview; notify pgrst, 'reload schema'"
            )
    assert report.component("schema").status == "down" and "desk_overview" in report.component("schema").reason
    assert report.component("models").status == "down" and "migrate" in report.component("models").hint
    assert report.component("database").status == "ok"


def test_a_lock_on_the_chunk_table_is_seen_within_the_deadline(db: Database, dsn: str) -> None:
    """Case 20: down with the reason, in time; the other components are checked; all recovers by itself."""
    service = _service(db, deadline_s=1.5)
    with psycopg.connect(dsn) as connection:
        connection.execute("lock table client_memory_chunks in access exclusive mode")
        for look, seconds in ((service.report, 3.0), (service.memory_status, 3.0), (service.supabase_health, 3.0)):
            began = time.monotonic()
            look()
            assert time.monotonic() - began < seconds
        report = service.report(max_age_s=60)
        assert report.status == "down"
        assert report.component("database").status == "down"
        assert "time" in report.component("database").reason or "No answer" in report.component("database").reason
        for name in ("auth", "migrations", "embedder", "spool"):
            assert report.component(name).status == "ok", name
        status = service.memory_status()
        assert (status["ready"], status["needsMigration"]) == (False, False)
        health = service.supabase_health()
        assert (health["ok"], health["auth"]["ok"], health["table"]["ok"]) == (False, True, False)
    assert service.report().status == "ok"
    assert service.memory_status() == {"ready": True, "table": "client_memory_chunks", "totalChunks": 0}


def test_the_payloads_of_the_two_routes(db: Database) -> None:
    """As the specification words them."""
    service = _service(db)
    assert service.memory_status() == {"ready": True, "table": "client_memory_chunks", "totalChunks": 0}
    health = service.supabase_health()
    assert health["ok"] is True
    assert (health["table"]["name"], health["table"]["count"]) == ("client_memory_chunks", 0)


def test_a_missing_table_needs_a_migration() -> None:
    """`needsMigration` tells this from a database that is away."""
    gone = {"code": "PGRST205", "message": "Could not find the table", "hint": None, "details": None}
    missing = _service(
        _mocked(lambda r: httpx.Response(404, headers={"proxy-status": "PostgREST; error=PGRST205"}, json=gone))
    )
    assert missing.memory_status()["needsMigration"] is True

    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    status = _service(_mocked(away)).memory_status()
    assert (status["ready"], status["needsMigration"]) == (False, False)
    assert "reach" in status["error"]


def test_nothing_answers() -> None:
    """Database gone: down, each component with its reason, none of them ok by default but those on this machine."""

    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    report = _service(_mocked(away)).report()
    assert report.status == "down"
    assert {c.name for c in report.components if c.status == "ok"} == {"embedder", "spool"}
    assert {c.name for c in report.components if c.status == "down"} == {"auth", "database", "search"}


def test_answers_that_make_no_sense_are_unknown(caplog: pytest.LogCaptureFixture) -> None:
    """A form that we do not know is neither ok nor a traceback for the operator."""

    def odd(request: httpx.Request) -> httpx.Response:
        if request.method == "HEAD":
            return httpx.Response(200, headers={"content-range": "*/3"})
        return httpx.Response(200, json=[{"version": 1}] if "migrations" in request.url.path else {})

    report = _service(_mocked(odd)).report()
    assert report.component("schema").status == "unknown"
    assert report.component("models").status == "unknown"
    assert report.component("database").status == "ok"
    assert "the health check schema failed" in caplog.text


def test_many_who_ask_at_once_share_one_look() -> None:
    """Ten pages that poll are one round of questions, and a fresh report is given again."""
    asked: list[str] = []

    def slow(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        time.sleep(0.1)
        return httpx.Response(200, json={})

    service = _service(_mocked(slow))
    threads = [threading.Thread(target=service.report) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert asked.count("/auth/v1/health") == 1
    service.report(max_age_s=60)
    assert asked.count("/auth/v1/health") == 1
    service.report()
    assert asked.count("/auth/v1/health") == 2


def test_the_embedder_is_asked_only_on_demand(db: Database) -> None:
    """A probe may cost money; its failure is the embedder's alone."""
    probed: list[int] = []
    service = _service(db, probe=lambda: probed.append(1))
    assert "not asked" in service.report().component("embedder").reason and probed == []
    assert "answered" in service.report(probe_embedder=True).component("embedder").reason and probed == [1]
    assert _service(db, model=lambda: None).report().component("embedder").status == "degraded"

    def crash() -> None:
        from core.errors import ProviderUnavailable

        raise ProviderUnavailable("The local model crashed.")

    report = _service(db, probe=crash).report(probe_embedder=True)
    assert report.component("embedder").status == "down" and report.status == "degraded"


def test_since_is_when_the_status_changed() -> None:
    """It stands while the status does, and moves when that changes."""
    state = {"away": True}

    def handle(request: httpx.Request) -> httpx.Response:
        if state["away"]:
            raise httpx.ConnectError("refused")
        return httpx.Response(200, json={})

    clock = FixedClock(datetime(2026, 11, 30, 14, 2, tzinfo=UTC))
    service = _service(_mocked(handle), clock=clock)
    first = service.report()
    clock.at += timedelta(minutes=5)
    second = service.report()
    assert second.component("auth").since == first.checked_at and second.component("auth").checked_at == clock.at
    state["away"] = False
    clock.at += timedelta(minutes=5)
    assert service.report().component("auth").since == clock.at
