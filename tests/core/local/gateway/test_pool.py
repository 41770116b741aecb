"""The pool on a real server: connections are used again, closed ones are noticed, and none is lost."""

from __future__ import annotations

import psycopg
import pytest

from core.local.gateway import pool as module
from core.local.gateway.errors import Failure
from core.local.gateway.pool import Pool


def test_used_again(blank_dsn: str) -> None:
    """The second user gets the first one's connection, in UTC and autocommit."""
    pool = Pool(blank_dsn)
    with pool.connection() as first:
        assert first.autocommit and first.execute("show timezone").fetchone() == ("UTC",)
    with pool.connection() as second:
        assert second is first
    pool.close()
    assert first.closed


def test_ended_by_the_server(blank_dsn: str) -> None:
    """A connection that the server closed while idle is replaced before anybody uses it."""
    pool = Pool(blank_dsn)
    with pool.connection() as first:
        pid = first.info.backend_pid
    with psycopg.connect(blank_dsn, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", [pid])
    with pool.connection() as second:
        assert second.execute("select 1").fetchone() == (1,)
    pool.close()


def test_left_in_a_transaction(blank_dsn: str) -> None:
    """A connection given back within a transaction is closed, not handed on."""
    pool = Pool(blank_dsn)
    with pool.connection() as first:
        first.execute("begin")
    assert first.closed
    with pool.connection() as second:
        assert second.execute("select 1").fetchone() == (1,)
    pool.close()


def test_all_in_use(blank_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits too long for a place hears 504 PGRST003; the place is free again afterwards."""
    monkeypatch.setattr(module, "SIZE", 1)
    monkeypatch.setattr(module, "WAIT_S", 0.05)
    pool = Pool(blank_dsn)
    with pool.connection(), pytest.raises(Failure) as caught, pool.connection():
        pass
    assert (caught.value.status, caught.value.code) == (504, "PGRST003")
    with pool.connection() as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    pool.close()


def test_no_server() -> None:
    """503 PGRST000 at once, each time: a failed attempt costs no place."""
    pool = Pool("host=/nowhere dbname=x")
    for _ in range(module.SIZE + 1):
        with pytest.raises(Failure) as caught, pool.connection():
            pass
        assert (caught.value.status, caught.value.code) == (503, "PGRST000")
