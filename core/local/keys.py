"""The keys of one data folder: a random secret and the two JWTs signed with it, as a Supabase project has them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass, field

TEN_YEARS_S = 10 * 365 * 24 * 3600


@dataclass(frozen=True)
class Keys:
    """`anon` and `service_role` are HS256 JWTs with a role claim; whoever has `jwt_secret` can make others."""

    jwt_secret: str = field(repr=False)
    anon: str = field(repr=False)
    service_role: str = field(repr=False)

    def roles(self) -> dict[str, str]:
        return {self.anon: "anon", self.service_role: "service_role"}


def new_keys() -> Keys:
    secret = secrets.token_urlsafe(48)
    now = int(time.time())
    return Keys(secret, *(sign(secret, role, now) for role in ("anon", "service_role")))


def sign(secret: str, role: str, issued_at: int) -> str:
    """A JWT for that role, valid for ten years from `issued_at` (Unix seconds). Source: RFC 7515, RFC 7519."""
    claims = {"iss": "memory-desk", "role": role, "iat": issued_at, "exp": issued_at + TEN_YEARS_S}
    body = ".".join(
        _part(json.dumps(part, separators=(",", ":")).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims)
    )
    return f"{body}.{_part(hmac.digest(secret.encode(), body.encode(), hashlib.sha256))}"


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
