"""Against a real server that is killed: reads go on, writes say so once, and the next works."""

from __future__ import annotations

import os
import signal
import socket
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.local import state as states
from core.local.processes import poll

if TYPE_CHECKING:
    from core.local.server import LocalSupabase


@pytest.fixture
def db(fresh_supabase: LocalSupabase) -> Iterator[Database]:
    endpoint = fresh_supabase.endpoint
    opened = Database(endpoint.url, endpoint.service_role_key, revive=lambda: fresh_supabase.revive().url)
    yield opened
    opened.close()


def _kill(supabase: LocalSupabase, part: str) -> None:
    state = states.read(supabase.data_dir)
    assert state is not None
    process = getattr(state, part)
    os.kill(process.pid, signal.SIGKILL)
    poll(lambda: not process.alive(), 10)


def _squatter(port: int) -> socket.socket:
    """Listens and never answers. A killed process of many threads may hold its port for a moment after its end."""
    for _ in range(100):
        try:
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the port did not become free")


def _event(n: int) -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(n))),
        "type": "SearchEmpty",
        "class": "observation",
        "ts": datetime(2026, 11, 30, tzinfo=UTC).isoformat(),
        "actor": {"kind": "user", "principal_id": "local", "display_name": "Local"},
    }


def _append(db: Database, n: int) -> dict[str, Any]:
    return db.rpc("companion_append_events", {"p_events": [_event(n)]}, read=False, returns=dict)


def test_reads_and_writes_outlive_gateway_and_postgres(db: Database, fresh_supabase: LocalSupabase) -> None:
    """Each is killed in turn. No read fails; a write fails at most once, typed; nothing written is lost or doubled."""
    assert _append(db, 0) == {"inserted": 1}
    for n, part in enumerate(("gateway", "postgres"), start=1):
        _kill(fresh_supabase, part)
        assert db.count("companion_events") == n
        _kill(fresh_supabase, part)
        try:
            _append(db, n)
        except DatabaseUnavailable as error:
            assert error.retryable
            _append(db, n)
        assert db.count("companion_events") == n + 1
    assert db.auth_health()


def test_a_gateway_that_comes_back_elsewhere_is_followed(db: Database, fresh_supabase: LocalSupabase) -> None:
    """Somebody took the port meanwhile: the client goes to the new one."""
    before = db.url
    _kill(fresh_supabase, "gateway")
    with _squatter(int(before.rsplit(":", 1)[1])):
        assert db.rpc("companion_query_events", {}, read=True, returns=dict, timeout_s=1)["rows"] == []
    assert db.url != before
