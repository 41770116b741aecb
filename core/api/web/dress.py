"""An answer on its way out: our headers over the application's, cookies mended, the API's errors in the API's form."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import JSONResponse
from starlette.types import Message, Send

from core.api.web.back import remembering
from core.api.web.cookies import mended
from core.api.web.policy import Headers
from core.api.web.site import Asked

CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 500: "internal"}
SAID = {400: "The request cannot be read.", 404: "There is no such API path.", 405: "The path has no such method."}


class Dressed:
    """A `send` that goes on to another. `started`: whether the head of an answer is out, and nothing can replace it."""

    def __init__(self, send: Send, asked: Asked, ours: Headers, told: Callable[[int], None], base: str = "") -> None:
        self._send = send
        self._asked = asked
        self._ours = ours
        self._told = told
        self._base = base
        self._replaced = False
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            self._told(message["status"])
            headers = list(message.get("headers", []))
            if self._asked.kind == "api" and message["status"] >= 400 and not _is_json(headers):
                self._replaced = True
                await self._as_json(message["status"], headers)
                return
            await self._send({**message, "headers": self._over(headers)})
        elif not self._replaced:
            await self._send(message)

    def _over(self, headers: Headers) -> Headers:
        names = {name for name, _ in self._ours}
        kept = [(name, value) for name, value in headers if name.lower() not in names and name.lower() != b"server"]
        kept = remembering(kept, self._asked, self._base)
        for at, (name, value) in enumerate(kept):
            if name.lower() == b"set-cookie":
                kept[at] = (name, mended(value, secure=self._asked.secure))
        return kept + self._ours

    async def _as_json(self, status: int, headers: Headers) -> None:
        """What Streamlit or the router refused, in words of the API."""
        message = SAID.get(status, "The request was refused.")
        answer = JSONResponse({"error": {"code": CODES.get(status, "refused"), "message": message}}, status)
        kept = [(name, value) for name, value in headers if name.lower() in (b"allow", b"retry-after")]
        head = {"type": "http.response.start", "status": status}
        await self._send(head | {"headers": self._over([*answer.raw_headers, *kept])})
        await self._send({"type": "http.response.body", "body": answer.body})


def _is_json(headers: Headers) -> bool:
    return any(name.lower() == b"content-type" and b"json" in value.lower() for name, value in headers)
