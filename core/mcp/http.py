"""Streamable HTTP: an ASGI application to be mounted behind a guard, and what has to run as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from core.bootstrap import Core
from core.mcp.server import build_server

PATH = "/stack-ai/mcp"
BODY_LIMIT = 1024 * 1024
IDLE_S = 1_800.0
SESSIONS = 200


class McpEndpoint:
    """Who may call is for the guard before it: Host, Origin and token are looked at there, as for the API."""

    def __init__(self, get_core: Callable[[], Core]) -> None:
        self._get_core = get_core
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Inside, it answers. For the lifespan of the application; can be entered again."""
        manager = StreamableHTTPSessionManager(
            build_server(self._get_core),
            json_response=True,
            max_request_body_size=BODY_LIMIT,
            session_idle_timeout=IDLE_S,
            max_sessions=SESSIONS,
        )
        async with manager.run():
            self._manager = manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            # We tell nothing unasked; a stream held open for that would keep the server from stopping.
            await Response(status_code=405, headers={"Allow": "POST, DELETE"})(scope, receive, send)
        elif self._manager is None:
            error = {"code": "starting", "message": "Memory Desk is starting or stopping."}
            await JSONResponse({"error": error}, 503, headers={"Retry-After": "5"})(scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)
