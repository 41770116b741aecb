"""The middleware round everything: pages, API, MCP, media, uploads and the WebSocket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.api.answers import bug
from core.api.web.dress import Dressed
from core.api.web.hosts import is_allowed
from core.api.web.pace import Pace
from core.api.web.policy import content_policy, headers_for
from core.api.web.refusals import BODY_LIMIT, Refusal, refuse
from core.api.web.server import tune
from core.api.web.site import Asked, Site, asked
from core.api.web.sockets import Drop, pass_socket

BODY_S = 120.0
UPLOAD = "/_stcore/upload_file/"
WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Shield:
    """`get_site` is asked at the first request: settings that cannot work end the process before. `drop`: which bytes
    of a browser never reach the pages."""

    def __init__(self, app: ASGIApp, get_site: Callable[[], Site], drop: Drop = lambda _: False) -> None:
        self._app = app
        self._get_site = get_site
        self._drop = drop
        self._known: tuple[Site, Pace] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            tune(receive)
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        site, pace = self._site()
        this = asked(scope, site)
        if scope["type"] == "websocket":
            await pass_socket(self._app, scope, receive, send, site, this, pace, self._drop)
            return
        policy = content_policy(site.scripts, this.host if is_allowed(this.host, site.names) else None)
        ours = headers_for(this.kind, policy=policy, secure=this.secure)
        told = (lambda status: pace.answered(this, status)) if this.kind == "api" else (lambda _: None)
        dressed = Dressed(send, this, ours, told, site.base_path)
        refusal = refuse(this, site, scope.get("query_string", b"")) or _too_fast(this, pace)
        if refusal:
            await _refused(refusal, this, scope, receive, send, ours)
        elif this.kind == "api":
            async with pace.slot() as busy:
                if busy:
                    await _refused(busy, this, scope, receive, send, ours)
                else:
                    await self._answer(scope, receive, dressed)
        else:
            await self._answer(scope, receive, dressed)

    async def _answer(self, scope: Scope, receive: Receive, dressed: Dressed) -> None:
        """What the application raises becomes an answer without internals; its place goes into the log."""
        limited = _Body(receive) if scope["method"] in WRITES else receive
        try:
            await self._app(scope, limited, dressed)
        except Exception as error:
            if dressed.started:
                raise
            await bug(error)(scope, receive, dressed)

    def _site(self) -> tuple[Site, Pace]:
        if self._known is None:
            site = self._get_site()
            self._known = (site, Pace(site.rate_per_minute))
        return self._known


def _too_fast(this: Asked, pace: Pace) -> Refusal | None:
    if this.kind == "api":
        return pace.request(this)
    return pace.upload(this) if this.method == "PUT" and this.path.startswith(UPLOAD) else None


async def _refused(
    refusal: Refusal, this: Asked, scope: Scope, receive: Receive, send: Send, ours: list[tuple[bytes, bytes]]
) -> None:
    # Not counted as an answer of ours: a refusal says nothing about the token.
    plain = Dressed(send, this, ours, lambda _: None)
    await refusal.response(this.kind)(scope, receive, plain)


class _Body:
    """A `receive` that lets no body be endless, in bytes or in time: after that the sender counts as gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._left = BODY_LIMIT
        self._until = time.monotonic() + BODY_S
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            return {"type": "http.disconnect"}
        self._whole = not message.get("more_body", False)
        return message
