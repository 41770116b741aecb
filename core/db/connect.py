"""The clients that a Database is made of: one pool of connections, one supabase-py client on top of it."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx
from supabase import Client, ClientOptions, create_client

from core.config import is_loopback
from core.db.transport import Wire

_LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=16, keepalive_expiry=30.0)


def http_client(url: str, *, default_s: float, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """A client for one host: HTTP/1.1, connections kept, no redirects (a redirect would take the key elsewhere)."""
    inner = transport or httpx.HTTPTransport(limits=_LIMITS, proxy=_proxy(url), trust_env=not _loopback(url))
    return httpx.Client(transport=Wire(inner, default_s), trust_env=False, follow_redirects=False)


def supabase_client(url: str, key: str, http: httpx.Client) -> Client:
    """supabase-py without its own retries: three of them make a dead database cost seven seconds a read."""
    options = ClientOptions(
        auto_refresh_token=False, persist_session=False, postgrest_client_retry=False, httpx_client=http
    )
    return create_client(url, key, options)


def _loopback(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname or "")


def _proxy(url: str) -> str | None:
    # Read here and not by httpx, whose proxies would bypass the deadline; loopback traffic never leaves the machine.
    parts = urlsplit(url)
    if _loopback(url) or proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"
