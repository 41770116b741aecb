"""Requests that are turned away before anything of the application sees them. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from starlette.responses import JSONResponse, PlainTextResponse, Response

from core.api.web.hosts import is_allowed, same_origin
from core.api.web.policy import CLOSED, HEALTH, Kind
from core.api.web.site import Asked, Site

QUERY_LIMIT = 8 * 1024
BODY_LIMIT = 22 * 1024 * 1024  # an upload of 20 MB in its envelope; what reads a body has a limit of its own


@dataclass(frozen=True)
class Refusal:
    status: int
    code: str
    message: str
    after_s: float = 0.0

    def response(self, kind: Kind) -> Response:
        """In the API's form for the API, as plain text for the rest."""
        headers = {"Retry-After": str(max(1, math.ceil(self.after_s)))} if self.after_s else None
        if kind != "api":
            return PlainTextResponse(self.message, self.status, headers)
        return JSONResponse({"error": {"code": self.code, "message": self.message}}, self.status, headers)


def refuse(asked: Asked, site: Site, query: bytes = b"") -> Refusal | None:
    """Why a request is not answered: closed, another machine's name, another site's page, or larger than anything."""
    if asked.path == HEALTH:
        return None  # a balancer asks by whatever address it knows; the answer is "ok"
    if not is_allowed(asked.host, site.names):
        hint = "Set MEMORY_DESK_ALLOWED_HOSTS where it is this one."
        return Refusal(403, "wrong_host", f"The Host header names another machine. {hint}")
    if asked.path.startswith(CLOSED):
        return Refusal(404, "not_found", "There is nothing here.")
    if _of_another_site(asked):
        return Refusal(403, "other_origin", "Requests of other origins are refused.")
    if asked.kind == "media" and site.signed and asked.path not in site.public and asked.person is None:
        return Refusal(403, "signed_out", "Files of a page are for whoever is signed in.")
    if len(query) > QUERY_LIMIT:
        return Refusal(414, "uri_too_long", f"The query is longer than {QUERY_LIMIT} bytes.")
    length = asked.headers.get("content-length", "")
    if length.isdigit() and (len(length) > 12 or int(length) > BODY_LIMIT):
        return Refusal(413, "too_large", f"The body is larger than {BODY_LIMIT // 2**20} MB.")
    return None


def refuse_socket(asked: Asked, site: Site) -> bool:
    """A WebSocket carries cookies whoever opens it: only a page of this very host may."""
    origin = asked.headers.get("origin")
    return not is_allowed(asked.host, site.names) or not same_origin(origin, asked.host)


def _of_another_site(asked: Asked) -> bool:
    """What a browser says of who asks. Going to a page is free; everything else is for pages of our own."""
    where = asked.headers.get("sec-fetch-site", "none")
    if where in ("none", "same-origin"):
        return False
    return not (asked.headers.get("sec-fetch-mode") == "navigate" and asked.method in ("GET", "HEAD"))
