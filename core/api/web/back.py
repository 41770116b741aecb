"""Back to the page that somebody asked for before they signed in: kept in a cookie while they are at the provider.

Streamlit sends everybody to the start page. The address of a page names views, days and codes, and nobody.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from core.api.web.hosts import same_origin
from core.api.web.policy import Headers
from core.api.web.site import Asked

LOGIN, CALLBACK = "/auth/login", "/oauth2callback"
COOKIE = "memory_desk_back"
KEPT_S = 600
# Of our own pages alone: one step, so that no address of another host fits.
_PAGE = re.compile(r"/[a-z][a-z_-]{0,39}(?:\?[A-Za-z0-9_.~%=&+:*-]{1,1000})?")


def remembering(headers: Headers, asked: Asked, base: str) -> Headers:
    """Headers of an answer, with what the sign-in has to remember, or with where it leads back to."""
    if asked.path == LOGIN and (page := _before(asked, base)):
        return [*headers, (b"set-cookie", _cookie(page, base, KEPT_S))]
    if asked.path == LOGIN and COOKIE in asked.cookies:  # of a sign-in that was begun and given up
        return [*headers, (b"set-cookie", _cookie("", base, 0))]
    if asked.path == CALLBACK and (page := _kept(asked)):
        start = f"{base}/".encode()
        led = [
            (name, f"{base}{page}".encode() if (name, value) == (b"location", start) else value)
            for name, value in headers
        ]
        return [*led, (b"set-cookie", _cookie("", base, 0))]
    return headers


def _before(asked: Asked, base: str) -> str | None:
    """The page of this host that leads to the sign-in, as its address stood."""
    referer = asked.headers.get("referer", "")
    if not referer or not same_origin(referer, asked.host):
        return None
    parts = urlsplit(referer)
    page = parts.path.removeprefix(base) + (f"?{parts.query}" if parts.query else "")
    return page if _PAGE.fullmatch(page) else None


def _kept(asked: Asked) -> str | None:
    value = asked.cookies.get(COOKIE, "")
    return value if _PAGE.fullmatch(value) else None


def _cookie(page: str, base: str, seconds: int) -> bytes:
    return f"{COOKIE}={page}; Path={base or '/'}; Max-Age={seconds}; HttpOnly; SameSite=Lax".encode()
