"""Direct SQL against the migrated database: connections by role, short vectors, rows with defaults, a database as the
existing service has it. Only these tests and the gateway know psycopg."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

MODEL = "test:768"
LEGACY = Path(__file__).with_name("legacy.sql")

Ask = Callable[..., Any]


def vector(*coordinates: float) -> str:
    """A vector of 768 numbers in pgvector's text form: these, then zeros."""
    return "[" + ",".join(map(str, coordinates)) + ",0" * (768 - len(coordinates)) + "]"


def chunk(dialog_key: str = "d1", **columns: Any) -> dict[str, Any]:
    """A row of client_memory_chunks with what a test does not care about filled in; jsonb as text."""
    row: dict[str, Any] = {
        "dialog_key": dialog_key,
        "source": "conversation",
        "source_id": "m1",
        "text": "hello",
        "embedding": vector(1),
        "embedding_model": MODEL,
        **columns,
    }
    parts = (row["dialog_key"], row["source"], row["source_id"], row["text"])
    row.setdefault("content_hash", hashlib.sha256(":".join(map(str, parts)).encode()).hexdigest())
    return row


def insert(connection: psycopg.Connection[Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Insert in one statement, as the service does through PostgREST; ids in the order of the rows."""
    statement = sql.SQL(
        "insert into client_memory_chunks ({}) select {} from jsonb_populate_recordset(null::client_memory_chunks, %s)"
        " with ordinality r order by ordinality returning id::text"
    )
    names = [sql.Identifier(name) for name in rows[0]]
    values = sql.SQL(", ").join(sql.SQL("r.") + name for name in names)
    cursor = connection.execute(statement.format(sql.SQL(", ").join(names), values), [json.dumps(rows)])
    return [row[0] for row in cursor]


def value(connection: psycopg.Connection[Any], statement: str, *parameters: Any) -> Any:
    """The one value of a query."""
    row = connection.execute(statement, parameters or None).fetchone()
    assert row is not None
    return row[0]


def call(connection: psycopg.Connection[Any], function: str, **arguments: Any) -> Any:
    """The JSON of one of our functions, arguments by name as PostgREST calls them; dicts travel as jsonb."""
    names = sql.SQL(", ").join(sql.SQL("{} => %s").format(sql.Identifier(name)) for name in arguments)
    statement = sql.SQL("select {}({})").format(sql.Identifier(function), names)
    row = connection.execute(statement, [_sent(v) for v in arguments.values()]).fetchone()
    assert row is not None
    return row[0]


def rebuild(connection: psycopg.Connection[Any], function: str) -> Any:
    """What a rebuild answers once it can: a fault that no table could keep is cleared when every older transaction of
    the server has ended, also those of other databases, which here are other workers' tests."""
    until = time.monotonic() + 60
    while (answer := call(connection, function))["stale"] and time.monotonic() < until:
        time.sleep(0.2)
    return answer


def _sent(argument: Any) -> Any:
    structured = isinstance(argument, dict) or (
        isinstance(argument, list) and argument and isinstance(argument[0], dict)
    )
    return json.dumps(argument) if structured else argument


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """The migrated, empty database as service_role, each statement its own transaction."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set role service_role")
        yield connection


@pytest.fixture
def other(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A second connection to it, as superuser and in a transaction of its own."""
    with psycopg.connect(dsn) as connection:
        yield connection


@pytest.fixture(scope="module")
def legacy_server(embedded: Any, worker_id: str) -> Iterator[tuple[str, str]]:
    """A database as the existing service has it, then migrated; libpq strings of its owner and of a superuser."""
    from core.local import migrate
    from tests.support.database import MIGRATIONS, clone, drop

    name = f"legacy_{worker_id}"
    clone(embedded.server, "template_blank", name)
    owner = embedded.server.dsn(name, "postgres")
    with psycopg.connect(owner) as connection:
        connection.execute(LEGACY.read_bytes())
    migrate.apply(owner, MIGRATIONS)
    yield owner, embedded.server.dsn(name)
    drop(embedded.server, name)


@pytest.fixture
def legacy(legacy_server: tuple[str, str]) -> Iterator[psycopg.Connection[Any]]:
    """That database as the service itself meets it: with a publishable key, so as anon. What it writes is undone."""
    with psycopg.connect(legacy_server[0]) as connection:
        yield connection
        connection.rollback()
