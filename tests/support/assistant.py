"""An assistant as the protocol's own client, over HTTP to a server in this process."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from core.api import mounted
from core.mcp import PATH, McpEndpoint

T = TypeVar("T")


@contextmanager
def served(get_core: Callable[[], Any]) -> Iterator[str]:
    """URL of the endpoint behind its guard, on a free port, until the end of the block."""
    endpoint = McpEndpoint(get_core)

    @asynccontextmanager
    async def life(_: Any) -> AsyncIterator[None]:
        async with endpoint.running():
            yield

    app = Starlette(routes=mounted(PATH, get_core, endpoint), lifespan=life)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    started = threading.Event()
    startup = server.startup

    async def announced(*args: Any, **more: Any) -> None:
        await startup(*args, **more)
        started.set()

    server.startup = announced  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run)
    thread.start()
    assert started.wait(30)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}{PATH}"
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@asynccontextmanager
async def assistant(
    url: str, name: str = "helper", *, mode: Any = "auto", headers: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    """A connected client of that name; `mode` as in the SDK: `legacy` has sessions, `auto` the protocol of 2026."""
    async with (
        httpx2.AsyncClient(headers=dict(headers or {}), timeout=60, trust_env=False) as http,
        Client(
            streamable_http_client(url, http_client=http),
            mode=mode,
            client_info=types.Implementation(name=name, version="1"),
            cache=None,
        ) as client,
    ):
        yield client


def asked(url: str, do: Callable[[Client], Awaitable[T]], **more: Any) -> T:
    """What comes of it, in one connection; what is raised is raised as it is, not in the groups of its tasks."""
    raised: list[Exception] = []

    async def run() -> Any:
        async with assistant(url, **more) as client:
            try:
                return await do(client)
            except Exception as error:
                raised.append(error)

    found = anyio.run(run)
    if raised:
        raise raised[0]
    return found


def text_of(result: Any) -> str:
    """Every text of an answer."""
    return "\n".join(part.text for part in result.content)


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> httpx2.Response:
    """One message as it is written here, past every check of a client, in the protocol of 2026."""
    method = str(body.get("method", ""))
    wanted = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": str(body.get("params", {}).get("name", "")),
        **(headers or {}),
    }
    return httpx2.post(url, json=dict(body), headers=wanted, timeout=60, trust_env=False)


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
