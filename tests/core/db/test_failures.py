"""Each foreign failure has one translation, and none repeats what a row or a key holds."""

from __future__ import annotations

import httpx
import pytest
from postgrest.exceptions import APIError

from core.db.failures import (
    CODES,
    EXCEPTIONS,
    connection_lost,
    never_sent,
    refuses_values,
    translate,
    translate_status,
)
from core.db.transport import UnexpectedAnswer
from core.errors import (
    ConflictError,
    CoreError,
    DatabaseError,
    DatabaseUnavailable,
    InputError,
    NotFound,
    PermissionDenied,
    SchemaMismatch,
    StatementTimeout,
)


def _api(code: str | None, message: str = "m", hint: str | None = None, details: str | None = None) -> APIError:
    return APIError({"code": code, "message": message, "hint": hint, "details": details})


KNOWN = {
    DatabaseUnavailable: (
        *("PGRST000", "PGRST001", "PGRST002", "PGRST003", "08000", "08003", "08006", "08P01", "3D000"),
        *("53000", "53200", "53300", "57P01", "57P02", "57P03", "57P05"),
        *("429", "502", "503", "504", "520", "521", "522", "523", "524", "540", "544"),
    ),
    StatementTimeout: ("57014", "55P03", "408"),
    PermissionDenied: ("42501", "28000", "28P01", "PGRST301", "PGRST302", "PGRST303", "401", "403"),
    SchemaMismatch: (
        *("42P01", "42883", "42703", "42704", "42725", "3F000", "404"),
        *("PGRST106", "PGRST200", "PGRST201", "PGRST202", "PGRST203", "PGRST204", "PGRST205"),
    ),
    ConflictError: ("23503", "23505", "23P01", "40001", "40P01", "409"),
    NotFound: ("PGRST103", "PGRST116", "406", "416"),
    InputError: ("22021", "22P05"),
    DatabaseError: (
        *("22001", "22003", "22007", "22P02", "23502", "23514", "25006", "53100", "54000", "58030", "P0001", "XX000"),
        *("PGRST100", "PGRST101", "PGRST102", "PGRST107", "PGRST108", "PGRST122", "PGRST124", "PGRST125", "PGRST127"),
        *("PGRST300", "PGRSTX00", "301", "302", "307", "308", "400", "413", "500"),
        *("99999", "PGRST999", "418", ""),
    ),
}


@pytest.mark.parametrize(("kind", "code"), [(kind, code) for kind, codes in KNOWN.items() for code in codes])
def test_every_known_code_has_its_type(kind: type[CoreError], code: str) -> None:
    """The type is the one the table names, not merely a relative of it, and the text is for an operator."""
    error = translate(_api(code))
    assert type(error) is kind
    assert error.what.endswith(".") and "\n" not in error.what


def test_every_line_of_the_table_is_tested() -> None:
    """A new code in the table needs its expectation above."""
    tested = {code for codes in KNOWN.values() for code in codes}
    for code in CODES:
        assert any(t == code or t.startswith(code) for t in tested), code


@pytest.mark.parametrize(("kind", "failure"), EXCEPTIONS)
def test_every_transport_failure_has_its_type(kind: type[Exception], failure: object) -> None:
    """Each exception class of the table is met by its own line, not by its parent's."""
    exc: Exception = (
        UnicodeEncodeError("utf-8", "secret\ud800", 6, 7, "surrogates")
        if kind is UnicodeEncodeError
        else kind("secret")
    )
    error = translate(exc)
    assert error.what == failure.what  # type: ignore[attr-defined]
    assert "secret" not in f"{error.what}{error.hint}{error.detail}"


def test_a_dead_server_is_worth_a_retry_and_a_missing_table_is_not() -> None:
    """`retryable` follows the type."""
    assert translate(httpx.ConnectError("x")).retryable
    assert translate(httpx.ReadTimeout("x")).retryable
    assert translate(_api("40P01")).retryable
    assert not translate(_api("42P01")).retryable
    assert not translate(_api("23505")).retryable


def test_the_hint_of_postgres_is_kept() -> None:
    """It often holds the fix; it is folded to one line and cut."""
    hint = "Perhaps you meant\nthe column  c.text"
    assert translate(_api("42703", hint=hint)).hint.endswith("Perhaps you meant the column c.text")
    assert len(translate(_api("42703", hint="x" * 5000)).hint) < 500


def test_row_values_never_get_into_an_error() -> None:
    """`details` quotes keys and rows, and messages of class 22 quote values; neither is shown or logged."""
    secret = "he worries about trust"
    cases = [
        _api("23505", 'duplicate key value violates unique constraint "x"', details=f"Key (dialog_key)=({secret})"),
        _api("23514", 'new row violates check constraint "c"', details=f"Failing row contains ({secret})"),
        _api("22P02", f'invalid input syntax for type uuid: "{secret}"'),
        _api("P0001", f"refused: {secret}"),
        _api("PGRST100", f'"failed to parse filter (eq.{secret})"'),
        _api("502", "Bad Gateway", details=f"<html>{secret}</html>"),
    ]
    for case in cases:
        error = translate(case)
        assert secret not in f"{error}{error.detail}{error.args}"


def test_names_of_tables_and_constraints_stay_in_the_detail() -> None:
    """The log says which relation or constraint it was."""
    assert "unique constraint" in translate(_api("23505", 'duplicate key value violates unique constraint "x"')).detail
    assert translate(_api("PGRST205", "Could not find the table 'public.t'")).detail.endswith("'public.t'")


def test_an_answer_without_a_code_is_read_by_its_status() -> None:
    """Supabase's own gateway refuses a key with a message and no code."""
    error = translate(_api(None, "Invalid API key", hint="Double check your API key."), status=401)
    assert type(error) is PermissionDenied
    assert error.hint.endswith("Double check your API key.")
    assert type(translate_status(503)) is DatabaseUnavailable
    assert type(translate(_api("PT409", "custom"), status=409)) is ConflictError


def test_our_own_errors_pass_unchanged() -> None:
    """Translating twice is translating once."""
    error = translate(_api("57014"))
    assert translate(error) is error


@pytest.mark.parametrize(
    ("exc", "lost", "unsent"),
    [
        (httpx.ConnectError("x"), True, True),
        (httpx.ConnectTimeout("x"), True, True),
        (httpx.RemoteProtocolError("x"), True, False),
        (httpx.ReadError("x"), True, False),
        (httpx.ReadTimeout("x"), False, False),
        (httpx.PoolTimeout("x"), False, False),
        (_api("PGRST000"), True, False),
        (_api("57P01"), True, False),
        (_api("08006"), True, False),
        (_api("PGRST003"), False, False),
        (_api("57014"), False, False),
        (_api("42501"), False, False),
        (UnexpectedAnswer("x"), False, False),
    ],
)
def test_what_a_new_start_can_help(exc: Exception, lost: bool, unsent: bool) -> None:
    """Only a gone server is started again; a slow one is left alone, or it would be killed at its work."""
    error = translate(exc)
    assert (connection_lost(error), never_sent(error)) == (lost, unsent)


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("22P02", True),
        ("22P05", True),
        ("23514", True),
        ("42P01", False),
        ("57014", False),
        ("502", False),
        ("", False),
    ],
)
def test_refused_values(code: str, refused: bool) -> None:
    """Rows that can never be written are told apart from a database that cannot write now."""
    assert refuses_values(translate(_api(code))) is refused
