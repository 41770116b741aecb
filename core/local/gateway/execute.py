"""Runs one statement in one transaction, as the role of the caller, in one round trip where nothing must be checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from core.local.gateway.auth import Caller
from core.local.gateway.config import STATEMENT_TIMEOUT_MS
from core.local.gateway.errors import Failure, from_postgres
from core.local.gateway.statement import Outcome, Statement

SETTINGS = "SELECT set_config('search_path', 'public, extensions', true), set_config('role', $1, true)"


def execute(
    connection: psycopg.Connection[Any],
    statement: Statement,
    caller: Caller,
    check: Callable[[Outcome], None] | None = None,
) -> Outcome:
    """The one row of the statement. `check` runs before the commit; a Failure it raises rolls everything back.

    A read needs no BEGIN: a pipeline is one transaction by itself, and `set_config(.., true)` holds to its end. A write
    has a COMMIT of its own, as the error of a deferred constraint would come without a code from the end of a pipeline.
    Errors: Failure, from Postgres' own error or from `check`.
    """
    settings_sql, values = _settings(statement, caller)
    cursor = psycopg.RawCursor(connection)
    try:
        with connection.pipeline():
            if check is not None or not statement.read_only:
                connection.execute("BEGIN")
            psycopg.RawCursor(connection).execute(settings_sql, values)
            cursor.execute(statement.sql, statement.parameters.values)
            if check is None and not statement.read_only:
                connection.execute("COMMIT")
        outcome = _outcome(cursor)
        if check is not None:
            check(outcome)
            connection.execute("COMMIT")
        return outcome
    except psycopg.Error as error:
        # After an aborted pipeline psycopg no longer knows which of its prepared statements the server has, and a later
        # request would fail with 26000. A new connection costs less than doing without prepared statements.
        connection.close()
        raise from_postgres(error, caller.role) from None
    except Failure:
        connection.execute("ROLLBACK")
        raise


def _settings(statement: Statement, caller: Caller) -> tuple[str, list[str]]:
    timeout = str(STATEMENT_TIMEOUT_MS[caller.role])
    named = [("request.jwt.claims", caller.claims), ("statement_timeout", timeout), *statement.settings]
    if statement.read_only:
        named.append(("transaction_read_only", "on"))
    values, text = [caller.role], SETTINGS
    for name, value in named:
        values += [name, value]
        text += f", set_config(${len(values) - 1}, ${len(values)}, true)"
    return text, values


def _outcome(cursor: psycopg.RawCursor[Any]) -> Outcome:
    """Read as bytes: the JSON goes out as it came, without becoming a Python string."""
    result = cursor.pgresult
    assert result is not None
    total, rows, body, inserted, location = (result.get_value(0, place) for place in range(5))
    return Outcome(
        total=None if total is None else int(total),
        rows=int(rows or 0),
        body=bytes(body or b""),
        inserted=None if inserted is None else int(inserted),
        location=location,
    )
