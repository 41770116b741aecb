"""The client against gateway and Postgres: caps, keys, failures as they really arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.db.client import Database
from core.errors import DatabaseError, PermissionDenied, SchemaMismatch, StatementTimeout

if TYPE_CHECKING:
    from core.local.server import Endpoint


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


def test_a_walk_sees_more_than_the_cap(db: Database, dsn: str) -> None:
    """2,300 rows, each once, although the data API stops at 1,000; the count is exact."""
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "insert into desk_dialog_sources (dialog_key, source, chunks) "
            "select 'k' || lpad(n::text, 5, '0'), 'note', 1 from generate_series(1, 2300) n"
        )
    assert db.count("desk_dialog_sources") == 2300
    keys = [
        r["dialog_key"] for p in db.pages("desk_dialog_sources", "dialog_key", key="dialog_key", size=2000) for r in p
    ]
    assert keys == [f"k{n:05d}" for n in range(1, 2301)]
    newest = db.sample("desk_dialog_sources", "dialog_key", order="dialog_key", limit=2, descending=True)
    assert [r["dialog_key"] for r in newest] == ["k02300", "k02299"]


def test_failures_as_they_arrive(db: Database, endpoint: Endpoint) -> None:
    """A table and a function that are not there, a wrong key, a public key, a value of the wrong kind."""
    with pytest.raises(SchemaMismatch) as caught:
        db.rpc("desk_no_such_function", {}, read=True)
    assert "migrate" in caught.value.hint
    with pytest.raises(SchemaMismatch):
        db.count("no_such_table")
    with pytest.raises(SchemaMismatch):
        db.sample("desk_meta", "no_such_column", order="key", limit=1)
    with pytest.raises(DatabaseError):
        db.rpc("companion_query_events", {"p_since": "yesterday evening"}, read=True)
    for key in ("sb_secret_wrong", "not.a.key"):
        with pytest.raises(PermissionDenied):
            Database(endpoint.url, key).count("client_memory_chunks")
        with pytest.raises(PermissionDenied):
            Database(endpoint.url, key).auth_health()
    with pytest.raises(PermissionDenied):
        Database(endpoint.url, endpoint.anon_key).rpc("desk_overview", {}, read=True)


def test_the_database_gives_up_on_a_slow_statement_in_its_own_words(db: Database, dsn: str) -> None:
    """57014 through the gateway, before the client's own deadline."""
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "create or replace function slow_test() returns json language plpgsql set statement_timeout = '300ms' "
            "as $$ begin perform pg_sleep(5); return '{}'; end $$; "
            "grant execute on function slow_test() to service_role"
        )
    try:
        with pytest.raises(StatementTimeout) as caught:
            db.rpc("slow_test", {}, read=True)
        assert caught.value.retryable
    finally:
        with psycopg.connect(dsn) as connection:
            connection.execute("drop function slow_test()")
