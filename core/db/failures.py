"""Foreign failures -> ours, by code, in one table. What a row or a key holds never gets into a text."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
from postgrest.exceptions import APIError

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

MIGRATE = "Run `python -m core migrate`, or open Health to see what is pending."
_KEY = "Check the Supabase key: a service-role key is needed."
_WAIT = "Retry in a moment, or open Health."


@dataclass(frozen=True)
class Failure:
    """What one code means: our type, words for the operator, what to do, and whether a retry can help."""

    kind: type[CoreError]
    what: str
    hint: str = ""
    retryable: bool | None = None


_UNREACHABLE = Failure(DatabaseUnavailable, "Can't reach the memory database.", _WAIT)
_STOPPED = Failure(DatabaseUnavailable, "The memory database is starting or stopping.", _WAIT)
_BUSY = Failure(DatabaseUnavailable, "The memory database has no free connection.", _WAIT)
_SLOW = Failure(StatementTimeout, "The memory database gave up on one statement: it took too long.", _WAIT)
_TABLE = Failure(SchemaMismatch, "The memory database lacks a table.", MIGRATE)
_FUNCTION = Failure(SchemaMismatch, "The memory database lacks a function, or has an older form of it.", MIGRATE)
_COLUMN = Failure(SchemaMismatch, "The memory database lacks a column.", MIGRATE)
_DENIED = Failure(PermissionDenied, "The database refused this key.", _KEY)
_TOKEN = Failure(PermissionDenied, "The database does not accept the key.", _KEY)
_REQUEST = Failure(DatabaseError, "The database did not understand the request.", "This is a fault of the dashboard.")
_VALUES = Failure(DatabaseError, "The database refused a value.", "Nothing was written.")
_FULL = Failure(
    DatabaseError, "The database has no room left, or only reads.", "Free space, or raise the plan's limit."
)
_GATEWAY = Failure(DatabaseUnavailable, "The database's gateway gave no answer.", _WAIT)
_RULE = Failure(ConflictError, "The change conflicts with a rule of the database.", "Reload and look at the row again.")
_RACE = Failure(ConflictError, "Two changes met in the database and this one gave way.", "Retry.", retryable=True)
_UNKNOWN = Failure(DatabaseError, "The database answered with a failure.", "Open Health; the log has the code.")

# PostgREST codes, SQLSTATEs (whole, then their class of two), HTTP statuses where no other code came.
CODES: dict[str, Failure] = {
    "PGRST000": _UNREACHABLE,
    "PGRST001": _UNREACHABLE,
    "PGRST002": _STOPPED,
    "PGRST003": _BUSY,
    "PGRST1": _REQUEST,
    "PGRST103": Failure(NotFound, "There is nothing on that page of the list.", "Go back to the first page."),
    "PGRST106": Failure(SchemaMismatch, "The API does not expose the schema `public`.", "Expose it in Supabase."),
    "PGRST116": Failure(NotFound, "Not exactly one row answers to that.", "It may have been removed meanwhile."),
    "PGRST2": _TABLE,
    "PGRST202": _FUNCTION,
    "PGRST203": Failure(SchemaMismatch, "A function exists in several forms.", MIGRATE),
    "PGRST204": _COLUMN,
    "PGRST205": _TABLE,
    "PGRST3": _TOKEN,
    "PGRST300": Failure(
        DatabaseError, "The database's gateway has no key to check tokens with.", "Check its settings."
    ),
    "PGRST301": _TOKEN,
    "PGRST302": _TOKEN,
    "PGRST303": _TOKEN,
    "PGRSTX00": Failure(DatabaseError, "The database's gateway failed inside.", _WAIT, retryable=True),
    "08": _UNREACHABLE,
    "22": _VALUES,
    "22021": Failure(InputError, "A text holds a character that no database text may hold."),
    "22P05": Failure(InputError, "A text holds a character that no database text may hold."),
    "23": _VALUES,
    "23503": _RULE,
    "23505": _RULE,
    "23P01": _RULE,
    "25006": _FULL,
    "28": _TOKEN,
    "3D000": Failure(DatabaseUnavailable, "The database does not exist.", "Check the URL, or start it again."),
    "3F000": Failure(SchemaMismatch, "The memory database lacks a schema.", MIGRATE),
    "40001": _RACE,
    "40P01": _RACE,
    "42501": _DENIED,
    "42703": _COLUMN,
    "42704": Failure(SchemaMismatch, "The memory database lacks a type or an extension (pgvector?).", MIGRATE),
    "42725": Failure(SchemaMismatch, "A function exists in several forms.", MIGRATE),
    "42883": _FUNCTION,
    "42P01": _TABLE,
    "53": _BUSY,
    "53100": _FULL,
    "53200": Failure(DatabaseUnavailable, "The memory database is out of memory.", _WAIT),
    "53300": _BUSY,
    "54": Failure(DatabaseError, "The request is too large for the database."),
    "55P03": Failure(StatementTimeout, "A lock in the memory database was not given in time.", _WAIT),
    "57014": _SLOW,
    "57P01": _STOPPED,
    "57P02": _STOPPED,
    "57P03": _STOPPED,
    "57P05": _STOPPED,
    "58": Failure(DatabaseError, "The database's machine has a fault (disk?).", "Open Health; look at its log."),
    "P0001": Failure(DatabaseError, "A rule inside the database refused this."),
    "XX": Failure(DatabaseError, "The database has an internal fault.", "Open Health; look at its log."),
    "301": Failure(DatabaseError, "The database's address redirects elsewhere.", "Check the Supabase URL."),
    "302": Failure(DatabaseError, "The database's address redirects elsewhere.", "Check the Supabase URL."),
    "307": Failure(DatabaseError, "The database's address redirects elsewhere.", "Check the Supabase URL."),
    "308": Failure(DatabaseError, "The database's address redirects elsewhere.", "Check the Supabase URL."),
    "400": _REQUEST,
    "401": _TOKEN,
    "403": _DENIED,
    "404": Failure(
        SchemaMismatch, "The address holds no such table or function.", "Check the Supabase URL. " + MIGRATE
    ),
    "406": Failure(NotFound, "Not exactly one row answers to that.", "It may have been removed meanwhile."),
    "408": _SLOW,
    "409": _RULE,
    "413": Failure(DatabaseError, "The request is too large for the database's gateway."),
    "416": Failure(NotFound, "There is nothing on that page of the list.", "Go back to the first page."),
    "429": Failure(DatabaseUnavailable, "The database's gateway asks to slow down.", _WAIT),
    "500": Failure(DatabaseError, "The database's gateway failed inside.", _WAIT, retryable=True),
    "502": _GATEWAY,
    "503": _GATEWAY,
    "504": _GATEWAY,
    "520": _GATEWAY,
    "521": _GATEWAY,
    "522": _GATEWAY,
    "523": _GATEWAY,
    "524": _GATEWAY,
    "540": Failure(DatabaseUnavailable, "The Supabase project is paused.", "Restore it in the Supabase dashboard."),
    "544": _GATEWAY,
}

# The first class that fits; subclasses stand before their parents.
EXCEPTIONS: tuple[tuple[type[Exception], Failure], ...] = (
    (httpx.ConnectError, _UNREACHABLE),
    (httpx.ConnectTimeout, _UNREACHABLE),
    (httpx.PoolTimeout, Failure(DatabaseUnavailable, "Too many requests to the database at once.", _WAIT)),
    (httpx.TimeoutException, Failure(DatabaseUnavailable, "The memory database gave no answer in time.", _WAIT)),
    (
        httpx.LocalProtocolError,
        Failure(DatabaseError, "The request could not be sent.", "Check URL and key for odd signs."),
    ),
    (httpx.UnsupportedProtocol, Failure(DatabaseError, "The database's address is no http(s) URL.", "Check the URL.")),
    (httpx.ProxyError, Failure(DatabaseUnavailable, "The proxy on the way to the database failed.", _WAIT)),
    (httpx.TransportError, Failure(DatabaseUnavailable, "The connection to the memory database broke.", _WAIT)),
    (httpx.InvalidURL, Failure(DatabaseError, "The database's address is no http(s) URL.", "Check the URL.")),
    (httpx.HTTPError, _UNKNOWN),
    (UnicodeEncodeError, Failure(InputError, "A text holds half of a character (a lone surrogate).")),
    (
        UnexpectedAnswer,
        Failure(
            DatabaseError, "Something other than the database answered.", "Check the Supabase URL (proxy, login page?)."
        ),
    ),
)

# Messages under these codes name tables, columns, functions and constraints only; others may quote values.
_NAMES_ONLY = ("08", "23", "3F", "42", "53", "57", "PGRST0", "PGRST2")
_HINT_LIMIT = 300
_LOST = (
    *("ConnectError", "ConnectTimeout", "ReadError", "WriteError", "CloseError", "RemoteProtocolError"),
    *("PGRST000", "PGRST001", "PGRST002", "08", "57P01", "57P02", "57P03", "502", "503"),
)


def translate(exc: Exception, *, status: int | None = None) -> CoreError:
    """Our error for theirs; `status` is the HTTP status, for answers that carry no code.

    Shape: `hint` ends with Postgres's own; `detail` begins with the code. PostgREST's `details` (which quotes row
    values) and the text of transport errors (which can quote a header) are left out. Our own errors pass unchanged.
    """
    if isinstance(exc, CoreError):
        return exc
    if isinstance(exc, APIError):
        code = str(exc.code or status or "")
        message = str(exc.message or "") if code.startswith(_NAMES_ONLY) else ""
        return _error(_by_code(code, status), f"{code or 'no code'} {message}".strip(), _shorten(exc.hint))
    failure = next((f for kind, f in EXCEPTIONS if isinstance(exc, kind)), _UNKNOWN)
    return _error(failure, type(exc).__name__, "")


def translate_status(status: int) -> CoreError:
    """Our error for an HTTP status alone, where there is no PostgREST to word it."""
    return _error(_by_code(str(status), status), str(status), "")


def refuses_values(error: CoreError) -> bool:
    """Whether the same rows will be refused again however often they are sent: a type, a constraint, a character."""
    code = error.detail.split(" ", 1)[0]
    return isinstance(error, InputError) or (len(code) == 5 and code[:2] in ("22", "23"))


def connection_lost(error: CoreError) -> bool:
    """Whether the server, or the database behind it, was gone: starting it again can help. Not so after a timeout."""
    return error.detail.startswith(_LOST)


def never_sent(error: CoreError) -> bool:
    """Whether no byte of the request reached the server, so that sending it again cannot do it twice."""
    return error.detail.startswith(("ConnectError", "ConnectTimeout"))


def no_sign(error: CoreError) -> bool:
    """Whether nothing said that our server is still there: no answer in time, or an answer of somebody else."""
    return error.detail.startswith(("ReadTimeout", "WriteTimeout", "UnexpectedAnswer"))


def _by_code(code: str, status: int | None) -> Failure:
    group = code[:6] if code.startswith("PGRST") else code[:2] if len(code) == 5 else code
    return CODES.get(code) or CODES.get(group) or CODES.get(str(status)) or _UNKNOWN


def _error(failure: Failure, detail: str, hint: str) -> CoreError:
    hints = " ".join(part for part in (failure.hint, hint) if part)
    return failure.kind(failure.what, hint=hints, detail=detail, retryable=failure.retryable)


def _shorten(hint: str | None) -> str:
    text = " ".join(str(hint or "").split())
    return text if len(text) <= _HINT_LIMIT else text[: _HINT_LIMIT - 1] + "…"
