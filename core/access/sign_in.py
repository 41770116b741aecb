"""Sign-in as it is set up, and who somebody is by what their provider says of them. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

CALLBACK = "/oauth2callback"
SECRET_LENGTH = 32
NAME_LIMIT = 120
_ASKED = ("client_id", "client_secret", "server_metadata_url")
_PLACEHOLDER = ("...", "changeme", "change-me", "secret", "xxx", "<")
# What a provider says of a sign-in rather than of a person; no rule is about it.
_OF_THE_TOKEN = frozenset(
    (
        "nonce",
        "at_hash",
        "c_hash",
        "s_hash",
        "exp",
        "iat",
        "auth_time",
        "jti",
        "picture",
        "is_logged_in",
        "origin",
        "sid",
    )
)


@dataclass(frozen=True)
class Provider:
    """One way to sign in; `name` "" is the one without a name."""

    name: str
    metadata_url: str

    @property
    def title(self) -> str:
        """What stands on its button."""
        return self.name.replace("_", " ").replace("-", " ").title() or (
            urlsplit(self.metadata_url).hostname or "provider"
        )


@dataclass(frozen=True)
class SignIn:
    """A sign-in by its claims. `id`: of this one sign-in; `began`: when the provider vouched for it."""

    id: str
    principal_id: str
    display_name: str
    began: datetime
    claims: Mapping[str, Any]


def providers(section: Mapping[str, Any]) -> tuple[tuple[Provider, ...], tuple[str, ...]]:
    """The providers of `[auth]`, and every problem with it by the name of its key; no value is repeated."""
    problems = []
    redirect = section.get("redirect_uri")
    if not isinstance(redirect, str) or not redirect.endswith(CALLBACK) or not _is_url(redirect):
        problems.append(f"auth.redirect_uri is no URL that ends with {CALLBACK}")
    secret = section.get("cookie_secret")
    if not isinstance(secret, str) or len(secret) < SECRET_LENGTH or _is_placeholder(secret):
        problems.append(f"auth.cookie_secret has to be {SECRET_LENGTH} random characters or more")
    found = []
    named = {name: part for name, part in section.items() if isinstance(part, Mapping) and name != "client_kwargs"}
    whole = {"": section} if any(key in section for key in _ASKED) else {}
    for name, part in {**whole, **named}.items():
        label = f"auth.{name}" if name else "auth"
        missing = [key for key in _ASKED if not isinstance(part.get(key), str) or not part[key].strip()]
        problems += [f"{label}.{key} is missing" for key in missing]
        if "_" in name:
            problems.append(f"{label}: a provider's name has no underscore")
        if "server_metadata_url" not in missing and not _is_url(part["server_metadata_url"]):
            problems.append(f"{label}.server_metadata_url is no http(s) URL")
        if not missing:
            found.append(Provider(name, part["server_metadata_url"]))
    if not whole and not named:
        problems.append("auth names no provider")
    return tuple(found), tuple(problems)


def sign_in_of(claims: Mapping[str, Any]) -> SignIn | None:
    """Who signed in; None for somebody who did not, and for claims that name no person or no moment."""
    if claims.get("is_logged_in") is not True:
        return None
    subject, began = claims.get("sub"), claims.get("iat")
    if not isinstance(subject, str) or not subject or isinstance(began, bool) or not isinstance(began, (int, float)):
        return None
    who = f"{claims.get('iss')}|{subject}"
    once = claims.get("nonce") or claims.get("at_hash") or claims.get("jti") or ""
    name = next((str(claims[key]) for key in ("email", "preferred_username", "name") if claims.get(key)), subject)
    try:
        moment = datetime.fromtimestamp(began, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return SignIn(
        id=_digest(f"{who}|{began}|{once}")[:32],
        principal_id=f"oidc:{_digest(who)[:16]}",
        display_name=name[:NAME_LIMIT],
        began=moment,
        claims={key: value for key, value in claims.items() if key not in _OF_THE_TOKEN},
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return False


def _is_placeholder(secret: str) -> bool:
    return len(set(secret)) < 8 or any(word in secret.lower() for word in _PLACEHOLDER)
