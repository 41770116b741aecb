"""What the middleware has to know of this installation, and of one request."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.types import Scope

from core.api.web.hosts import host_name
from core.api.web.policy import Kind, kind_of


def nobody(_: Mapping[str, str]) -> str | None:
    """Nobody is signed in."""
    return None


@dataclass(frozen=True)
class Site:
    """`names`: the Host names answered to. `scripts`: hashes of the scripts in the page. `https_hosts`: names that are
    reached over TLS alone, whatever a proxy says. `base_path`: "" or `/desk`, of the pages, not of the API.
    `person`: a name for who is signed in, from cookies that were looked at. `signed`: whether people sign in at all.
    `public`: files that everybody is given all the same."""

    names: frozenset[str]
    scripts: tuple[str, ...] = ()
    base_path: str = ""
    https_hosts: frozenset[str] = frozenset()
    rate_per_minute: int = 600
    person: Callable[[Mapping[str, str]], str | None] = nobody
    signed: bool = False
    public: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Asked:
    """One request or handshake: what it is for, from where, and who is to be counted for it."""

    kind: Kind
    path: str
    method: str
    host: str
    client: str
    secure: bool
    headers: Headers
    person_of: Callable[[Mapping[str, str]], str | None] = nobody

    @property
    def token(self) -> str | None:
        """A name for the token that is shown, wrong ones too; never the token."""
        given = self.headers.get("authorization", "").strip()
        return f"token {_digest(given)}" if given else None

    @cached_property
    def person(self) -> str | None:
        """A name for who is signed in."""
        return self.person_of(self.cookies)

    @cached_property
    def cookies(self) -> Mapping[str, str]:
        return cookie_parser(self.headers.get("cookie", ""))

    @property
    def counted(self) -> str:
        """Under which name a request of the API is counted: its token, else the address it comes from."""
        return self.token or f"address {self.client}"


def asked(scope: Scope, site: Site) -> Asked:
    """What an ASGI scope of HTTP or WebSocket asks for."""
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    path: str = scope["path"]
    inside = path.removeprefix(site.base_path) if site.base_path else path
    client = scope.get("client")
    return Asked(
        kind=kind_of(inside or "/"),
        path=inside or "/",
        method=scope.get("method", "GET"),
        host=host,
        client=client[0] if client else "",
        secure=scope.get("scheme") in ("https", "wss") or host_name(host) in site.https_hosts,
        headers=headers,
        person_of=site.person,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
