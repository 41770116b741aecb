"""The one WebSocket, that of the pages: who may open it, how many, and how fast it may speak."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.api.web.pace import Pace
from core.api.web.refusals import refuse_socket
from core.api.web.site import Asked, Site

POLICY = 1008
LONGEST_WAIT_S = 5.0


Drop = Callable[[bytes], bool]


async def pass_socket(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, site: Site, asked: Asked, pace: Pace, drop: Drop
) -> None:
    """Hand a handshake on, or close it unopened, which a browser sees as 403."""
    who = asked.person or f"address {asked.client}"
    with pace.session(who) as free:
        if not free or refuse_socket(asked, site):
            await send({"type": "websocket.close", "code": POLICY})
            return
        counted = asked.person or f"session {id(scope)}"
        await app(scope, _Slowed(receive, counted, pace, drop), send)


class _Slowed:
    """A `receive` that waits rather than loses: who clicks too fast is answered later."""

    def __init__(self, receive: Receive, who: str, pace: Pace, drop: Drop) -> None:
        self._receive = receive
        self._who = who
        self._pace = pace
        self._drop = drop

    async def __call__(self) -> Message:
        while True:
            message = await self._receive()
            if message["type"] != "websocket.receive":
                return message
            while wait := self._pace.clicks.take(self._who):
                await asyncio.sleep(min(wait, LONGEST_WAIT_S))
            if not self._drop(message.get("bytes") or b""):
                return message
