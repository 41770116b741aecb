"""Which names this server answers to, and which pages may open a WebSocket to it. Pure.

A page of any site can make its own name point to 127.0.0.1 or to an address in the office (DNS rebinding). What
gives it away is the Host header: it names the other site.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from urllib.parse import urlsplit

from core.config import is_loopback

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ADDRESS = "<address>"  # stands for every Host that is an IP address: no name, so no rebinding
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::(?P<port>[0-9]{1,5}))?")


def host_name(header: str) -> str | None:
    """The name in a Host header, lower case, no port; None for what is no such header."""
    found = _HOST.fullmatch(header)
    return found["name"].strip("[]").lower().rstrip(".") or None if found else None


def names_of(
    configured: Collection[str], address: str, redirect_uri: str | None, machine: Iterable[str] = ()
) -> frozenset[str]:
    """The names that are answered to.

    `configured` (MEMORY_DESK_ALLOWED_HOSTS) alone, with the loopback names, where it is given. Else the host of the
    sign-in's redirect and the loopback names; on an address of the network also that address, the machine's own names
    and, where every address is listened on and nothing else is known, whatever is an IP address.
    """
    if configured:
        return frozenset({*configured, *LOOPBACK})
    redirect = urlsplit(redirect_uri or "").hostname
    names = {*LOOPBACK, *([redirect] if redirect else [])}
    if not is_loopback(address):
        names |= {name.lower() for name in machine if name}
        names.add(ADDRESS if address in ("0.0.0.0", "::") and not redirect else address.strip("[]").lower())
    return frozenset(names)


def is_allowed(header: str, names: Collection[str]) -> bool:
    """Whether a Host header names this server; `*` allows all, `*.example.org` every name below."""
    name = host_name(header)
    if name is None:
        return False
    if "*" in names or name in names or (is_loopback(name) and "127.0.0.1" in names):
        return True
    if any(pattern.startswith("*.") and name.endswith(pattern[1:]) for pattern in names):
        return True
    return ADDRESS in names and _is_address(name)


def same_origin(origin: str | None, host: str) -> bool:
    """Whether a page of this very host asks; also true without Origin: then no browser does."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https"):
        return False
    return _without_default_port(parts.netloc) == _without_default_port(host)


def _without_default_port(netloc: str) -> str:
    return re.sub(r":(80|443)$", "", netloc.lower())


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
