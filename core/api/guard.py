"""Who may call the API at all: a bearer token where one is set, else this machine alone and no web page on it."""

from __future__ import annotations

import hmac
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect, Request

from core.config import Settings, is_loopback
from core.errors import CoreError, Forbidden, InputError, TooLarge, Unauthenticated
from core.events import Actor, user

BODY_LIMIT = 20 * 1024 * 1024
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class UnsupportedBody(InputError):
    code, status = "unsupported_body", 415


def check_caller(request: Request, settings: Settings) -> Actor:
    """The actor behind a request.

    With MEMORY_DESK_API_TOKEN: whoever shows it. Without: a client on this machine, addressed by a loopback name,
    not through a proxy, and not from a page of another origin (any web page could post to 127.0.0.1).
    """
    if settings.api_token is not None:
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        wanted = settings.api_token.get_secret_value()
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), wanted.encode()):
            raise Unauthenticated("The API token is missing or wrong.", hint="Send Authorization: Bearer <token>.")
        return user("token:api", "API token")
    if request.client is None or not is_loopback(request.client.host):
        raise Forbidden("Without a token the API answers this machine alone.", hint="Set MEMORY_DESK_API_TOKEN.")
    if any(name in request.headers for name in FORWARDED):
        raise Forbidden(
            "Forwarded requests are refused while no token is set.", hint="Set MEMORY_DESK_API_TOKEN behind a proxy."
        )
    if not is_loopback(_host(request.headers.get("host", ""))):
        raise Forbidden("The Host header names another machine.", field="Host")
    origin = request.headers.get("origin")
    if origin is not None and _netloc(origin) != request.headers.get("host", ""):
        raise Forbidden("Requests of other origins are refused.", field="Origin")
    return user("api:local", "Local API")


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
