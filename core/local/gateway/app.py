"""The ASGI side: reads a request, hands it to a thread, sends the reply. Plain ASGI, as one path needs no framework."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.local.gateway.config import MAX_BODY_BYTES
from core.local.gateway.errors import Failure
from core.local.gateway.reply import Reply, failed
from core.local.gateway.routes import Gateway, Request

THREADS = 32
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class App:
    """One gateway behind ASGI. More threads than connections, so that a wait for one ends in an answer (504)."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            body = await _read_body(scope, receive)
        except Failure as failure:
            await _send(send, failed(failure), close=True)
            return
        if body is None:
            return
        request = Request(scope["method"], scope["path"], scope["query_string"], _headers(scope), body)
        loop = asyncio.get_running_loop()
        try:
            reply = await loop.run_in_executor(self._threads, self._gateway.answer, request)
        except Exception as problem:  # a bug; the traceback could show a client's data, so only its kind goes out
            reply = failed(Failure(500, "PGRSTX00", "The local gateway failed.", details=type(problem).__name__))
        await _send(send, reply)


async def _read_body(scope: Message, receive: Receive) -> bytes | None:
    """The whole body; None where the client left. Errors: Failure 413."""
    declared = dict(scope["headers"]).get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise _too_large()
    chunks, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > MAX_BODY_BYTES:
            raise _too_large()
        if not message.get("more_body"):
            return b"".join(chunks)


def _headers(scope: Message) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name == "prefer" and name in headers else value
    return headers


async def _send(send: Send, reply: Reply, *, close: bool = False) -> None:
    headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in reply.headers]
    if reply.status != 204:
        headers.append((b"content-length", str(len(reply.body)).encode()))
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def _too_large() -> Failure:
    return Failure(413, "413", f"The body is larger than {MAX_BODY_BYTES // 1024 // 1024} MB.")
