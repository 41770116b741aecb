"""Who may call the API at all: whoever shows a token, else this machine alone and no web page on it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_args
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request

from core.access import Role, allowed
from core.access.checking import SEND
from core.bootstrap import Core
from core.config import is_loopback
from core.errors import CoreError, Forbidden, InputError, TooLarge, Unauthenticated
from core.events import Actor, user

BODY_LIMIT = 20 * 1024 * 1024
LOCAL, ENVIRONMENT = "a program on this machine", "the token of the environment"
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


# Whether people sign in on this installation: then a program needs a token. Errors: ConfigError.
Signed = Callable[[], bool]


def nobody_signs_in() -> bool:
    return False


class UnsupportedBody(InputError):
    code, status = "unsupported_body", 415


@dataclass(frozen=True)
class Caller:
    """Who calls, and why the answer is unmasked (None: it is masked)."""

    actor: Actor
    reason: str | None = None


def check_caller(request: Request, core: Core, *, signed: bool = False) -> Caller:
    """Who is behind a request. Asks the database about tokens of its own, so not for an event loop.

    Whoever shows MEMORY_DESK_API_TOKEN, also while the database is away, or a token that was made here. Without
    MEMORY_DESK_API_TOKEN also, showing none, a client on this machine, addressed by a loopback name, not through a
    proxy, and not from a page of another origin (any web page could post to 127.0.0.1). Not where people sign in
    (`signed`): there nobody is somebody for being on this machine. Errors: Unauthenticated, Forbidden, DatabaseError.
    """
    settings = core.settings
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _bearer(given.strip(), core)
    if settings.api_token is not None or signed:
        raise Unauthenticated("The API wants a token.", hint=SEND)
    _check_local(request)
    actor = user("api:local", "Local API", settings.local_roles)
    return Caller(actor, LOCAL if allowed(actor, "reveal") else None)


def _bearer(token: str, core: Core) -> Caller:
    wanted = core.settings.api_token
    given = hashlib.sha256(token.encode()).digest()
    # Digests: of texts of two lengths the comparison itself would tell the length.
    if wanted and hmac.compare_digest(given, hashlib.sha256(wanted.get_secret_value().encode()).digest()):
        return Caller(user("token:api", "API token", get_args(Role)), ENVIRONMENT)
    found = core.access_desk.bearer(token)
    return Caller(found.actor, found.reason)


def _check_local(request: Request) -> None:
    if request.client is None or not is_loopback(request.client.host):
        raise Forbidden("Without a token the API answers this machine alone.", hint=SEND)
    if any(name in request.headers for name in FORWARDED):
        raise Forbidden("Forwarded requests are refused without a token.", hint=SEND)
    if not is_loopback(_host(request.headers.get("host", ""))):
        raise Forbidden("The Host header names another machine.", field="Host")
    origin = request.headers.get("origin")
    if origin is not None and _netloc(origin) != request.headers.get("host", ""):
        raise Forbidden("Requests of other origins are refused.", field="Origin")


async def read_body(request: Request) -> bytes:
    """The body of a POST, at most 20 MB of application/json. Errors: UnsupportedBody (415), TooLarge (413)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedBody("The body must be application/json.", field="Content-Type")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > BODY_LIMIT:
        raise _too_large()
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > BODY_LIMIT:
                raise _too_large()
    except ClientDisconnect:
        # Nobody reads this answer; it is no fault of ours to be logged as one.
        raise InputError("The body broke off.", field="body") from None
    return bytes(body)


def _too_large() -> CoreError:
    return TooLarge(
        f"The body is larger than {BODY_LIMIT // 2**20} MB.", hint="Send the dialog in several ingests.", field="body"
    )


def _host(header: str) -> str:
    """The name in a Host header, "" for what is no such header: one with a user, or with a bracket left open."""
    try:
        parts = urlsplit(f"//{header}")
        return "" if parts.username is not None else parts.hostname or ""
    except ValueError:
        return ""


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
