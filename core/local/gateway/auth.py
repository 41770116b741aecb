"""Who asks: the API key must be known, and the bearer token, a key or a JWT, decides the role."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.local.gateway.config import STATEMENT_TIMEOUT_MS, GatewayConfig
from core.local.gateway.errors import Failure

LEEWAY_S = 30  # PostgREST's own


@dataclass(frozen=True)
class Caller:
    """`claims` is the JSON text that SQL sees as request.jwt.claims."""

    role: str
    claims: str


def identify(headers: Mapping[str, str], config: GatewayConfig) -> Caller:
    """Errors: Failure 401 for no key, a foreign key, a bad signature, an expired token or an unknown role."""
    key = headers.get("apikey")
    if not key:
        raise _refused("No API key found in request", "No `apikey` request header was found.")
    by_key = _known(key, config)
    if by_key is None:
        raise _refused("Invalid API key", "Double check your API key.")
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or token == key:
        return by_key
    return _known(token, config) or _from_jwt(token, config)


def _known(key: str, config: GatewayConfig) -> Caller | None:
    for known, role in config.keys.items():
        if hmac.compare_digest(known.encode(), key.encode()):
            return Caller(role, json.dumps({"role": role}))
    try:
        return _from_jwt(key, config)
    except Failure:
        return None


def _from_jwt(token: str, config: GatewayConfig) -> Caller:
    """A compact JWT signed with HS256 and our secret; no other algorithm, least of all `none`."""
    parts = token.split(".")
    if len(parts) != 3:
        raise _jwt("PGRST301", f"Expected 3 parts in JWT; got {len(parts)}")
    header, claims = _json_part(parts[0]), _json_part(parts[1])
    if header.get("alg") != "HS256":
        raise _jwt("PGRST301", "Wrong or unsupported encoding algorithm")
    signed = hmac.new(config.jwt_secret.encode(), f"{parts[0]}.{parts[1]}".encode(), hashlib.sha256).digest()
    if not config.jwt_secret or not hmac.compare_digest(signed, _bytes_part(parts[2])):
        raise _jwt("PGRST301", "No suitable key or wrong key type")
    _check_times(claims)
    role = claims.get("role", "anon")
    if not isinstance(role, str) or role not in STATEMENT_TIMEOUT_MS:
        raise _jwt("22023", f'role "{role}" does not exist')
    return Caller(role, json.dumps(claims))


def _check_times(claims: Mapping[str, Any]) -> None:
    now = time.time()
    for claim, holds, message in (
        ("exp", lambda at: now <= at + LEEWAY_S, "JWT expired"),
        ("nbf", lambda at: now >= at - LEEWAY_S, "JWT not yet valid"),
        ("iat", lambda at: now >= at - LEEWAY_S, "JWT issued at future"),
    ):
        at = claims.get(claim)
        if at is None:
            continue
        if isinstance(at, bool) or not isinstance(at, int | float):
            raise _jwt("PGRST303", f"The JWT '{claim}' claim must be a number")
        if not holds(at):
            raise _jwt("PGRST303", message)


def _bytes_part(part: str) -> bytes:
    try:
        return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _jwt("PGRST301", "JWT cryptographic operation failed") from None


def _json_part(part: str) -> dict[str, Any]:
    try:
        value = json.loads(_bytes_part(part))
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise _jwt("PGRST301", "JWT could not be decoded")
    return value


def _refused(message: str, hint: str) -> Failure:
    return Failure(401, "401", message, hint=hint)


def _jwt(code: str, message: str) -> Failure:
    challenge = f'Bearer error="invalid_token", error_description="{message}"' if code == "PGRST303" else "Bearer"
    return Failure(401, code, message, headers=[("WWW-Authenticate", challenge)])
