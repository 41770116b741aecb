"""Failures in PostgREST's form, and the HTTP status of each Postgres error code.

Source: docs.postgrest.org, references/errors (v14), read 2026-11-30.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import psycopg

STATUS_BY_CODE = {
    "23503": 409,
    "23505": 409,
    "25006": 405,
    "42883": 404,
    "42P01": 404,
    "42P17": 500,
    "53400": 500,
    "57P01": 503,
    "57P02": 503,
    "57P03": 503,
    "P0001": 400,
}
STATUS_BY_CLASS = {
    "08": 503,
    "09": 500,
    "0L": 403,
    "0P": 403,
    "25": 500,
    "28": 403,
    "2D": 500,
    "38": 500,
    "39": 500,
    "3B": 500,
    "40": 500,
    "53": 503,
    "54": 500,
    "55": 500,
    "57": 500,
    "58": 500,
    "F0": 500,
    "HV": 500,
    "P0": 500,
    "XX": 500,
}


class Failure(Exception):
    """An answer that is an error: HTTP status and the four fields every Supabase client reads."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: str | None = None,
        hint: str | None = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.hint = hint
        self.headers = list(headers)

    def body(self) -> bytes:
        fields = {"code": self.code, "details": self.details, "hint": self.hint, "message": self.message}
        return json.dumps(fields).encode()


def from_postgres(error: psycopg.Error, role: str) -> Failure:
    """The failure that says what Postgres said; a lost or refused connection has no code and is 503 PGRST000/001."""
    diagnosis, code = error.diag, error.sqlstate
    message, details, hint = diagnosis.message_primary or "", diagnosis.message_detail, diagnosis.message_hint
    if code is None:
        return _without_code(error)
    if code == "PGRST":
        return _raised_as_json(message, details)
    headers = [("WWW-Authenticate", "Bearer")] if code == "42501" and role == "anon" else []
    return Failure(status_of(code, role), code, message, details=details, hint=hint, headers=headers)


def status_of(code: str, role: str) -> int:
    """HTTP status of a SQLSTATE; refusal is 401 for anon, who may still sign in, and 403 for the others."""
    if code == "42501":
        return 401 if role == "anon" else 403
    if code.startswith("PT") and code[2:].isdigit() and 200 <= int(code[2:]) <= 599:
        return int(code[2:])  # raise sqlstate 'PT402': the function chose the status itself
    return STATUS_BY_CODE.get(code) or STATUS_BY_CLASS.get(code[:2], 400)


def unavailable() -> Failure:
    return Failure(503, "PGRST000", "Database connection error. Retrying the connection.")


def _without_code(error: psycopg.Error) -> Failure:
    if isinstance(error, psycopg.DataError):  # psycopg itself refused the value: a NUL character
        return Failure(400, "22021", "A text holds a character that Postgres cannot store (U+0000).")
    if isinstance(error, psycopg.OperationalError):
        return unavailable()
    return Failure(500, "PGRST001", "The database client failed.", details=type(error).__name__)


def _raised_as_json(message: str, details: str | None) -> Failure:
    """`raise sqlstate 'PGRST'` carries the body in its message and status and headers in its detail, both JSON."""
    try:
        body, answer = json.loads(message), json.loads(details or "")
        headers = [(str(k), str(v)) for k, v in answer.get("headers", {}).items()]
        return Failure(
            int(answer["status"]),
            body["code"],
            body["message"],
            details=body.get("details"),
            hint=body.get("hint"),
            headers=headers,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return Failure(500, "PGRST121", "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error")


def unparsable(what: str, text: str, column: int, expected: str) -> Failure:
    """400 PGRST100; `column` is 1-based."""
    found = f'unexpected "{text[column - 1]}"' if column <= len(text) else "unexpected end of input"
    return Failure(
        400,
        "PGRST100",
        f'"failed to parse {what} ({text})" (line 1, column {column})',
        details=f"{found} expecting {expected}",
    )
