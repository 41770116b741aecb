"""Statuses of Postgres errors, and the shape of a failure."""

from __future__ import annotations

import json

import psycopg
import pytest

from core.local.gateway.errors import Failure, from_postgres, status_of, unparsable


@pytest.mark.parametrize(
    ("code", "role", "status"),
    [
        ("23505", "anon", 409),
        ("23503", "service_role", 409),
        ("23502", "service_role", 400),
        ("22P02", "service_role", 400),
        ("42501", "anon", 401),
        ("42501", "authenticated", 403),
        ("42501", "service_role", 403),
        ("42703", "anon", 400),
        ("42P01", "anon", 404),
        ("42883", "anon", 404),
        ("57014", "anon", 500),
        ("57P01", "anon", 503),
        ("53300", "anon", 503),
        ("53400", "anon", 500),
        ("08006", "anon", 503),
        ("P0001", "anon", 400),
        ("P0002", "anon", 500),
        ("25006", "anon", 405),
        ("PT404", "anon", 404),
        ("PT999", "anon", 400),
        ("ZZ000", "anon", 400),
    ],
)
def test_status(code: str, role: str, status: int) -> None:
    """The table of PostgREST's documentation."""
    assert status_of(code, role) == status


def test_errors_without_a_code() -> None:
    """A lost connection is 503, a value that cannot be sent 400, anything else of the client's 500."""
    assert from_postgres(psycopg.OperationalError("gone"), "anon").status == 503
    assert from_postgres(psycopg.DataError("NUL"), "anon").status == 400
    assert from_postgres(psycopg.InterfaceError("bug"), "anon").status == 500


def test_body() -> None:
    """Four fields, also where a text holds half a surrogate pair."""
    body = json.loads(Failure(400, "C", "\ud800", hint="h").body())
    assert body == {"code": "C", "message": "\ud800", "details": None, "hint": "h"}


def test_unparsable() -> None:
    """The message names the place, counted from 1, and what was expected there."""
    failure = unparsable("filter", "x.1", 1, "operator")
    assert failure.message == '"failed to parse filter (x.1)" (line 1, column 1)'
    assert failure.details == 'unexpected "x" expecting operator'
    assert unparsable("filter", "", 1, "operator").details == "unexpected end of input expecting operator"
