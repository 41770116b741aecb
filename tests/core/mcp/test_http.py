"""Who may connect over HTTP: this machine without a token, its bearer with one; and where the endpoint stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api import mounted
from core.bootstrap import Core
from core.config import read_settings
from core.errors import DatabaseUnavailable
from core.mcp import PATH, McpEndpoint
from core.mcp.http import BODY_LIMIT
from tests.support.application import Application
from tests.support.assistant import META, asked, post, served

TOKEN = "correct-horse-battery"
HERE = ("127.0.0.1", 50000)
DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}


@pytest.fixture
def locked(core: Core, env: Mapping[str, str]) -> Iterator[str]:
    """URL of an endpoint with a token."""
    settings = read_settings({**env, "MEMORY_DESK_API_TOKEN": TOKEN})
    with served(lambda: replace(core, settings=settings)) as url:
        yield url


def test_the_token(locked: str) -> None:
    """Without it, or with another one, nobody is answered; with it both protocols are, also behind a proxy."""
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        refused = post(locked, DISCOVER, headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthenticated")
        assert refused.headers["www-authenticate"] == "Bearer"
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert post(locked, DISCOVER, {**bearer, "X-Forwarded-For": "192.0.2.7", "Host": "desk.example"}).status_code == 200
    for mode in ("auto", "legacy"):
        assert asked(locked, lambda c: c.list_tools(), mode=mode, headers=bearer).tools


def test_a_session_needs_the_token_too(locked: str) -> None:
    """Knowing the id of a session opens nothing: each message shows the token."""
    bearer = {"Authorization": f"Bearer {TOKEN}"}

    async def with_session(client: Client) -> int:
        headers = {"accept": "application/json", "mcp-session-id": "0" * 32}
        async with httpx2.AsyncClient(trust_env=False) as http:
            listing = {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}
            return (await http.post(locked, json=listing, headers=headers)).status_code

    assert asked(locked, with_session, mode="legacy", headers=bearer) == 401


@pytest.mark.parametrize(
    ("caller", "base", "headers", "status"),
    [
        (HERE, "http://127.0.0.1:8501", {}, 200),
        (HERE, "http://localhost:8501", {}, 200),
        (("192.0.2.7", 1), "http://127.0.0.1:8501", {}, 403),
        (HERE, "http://desk.example:8501", {}, 403),
        (HERE, "http://127.0.0.1:8501", {"X-Forwarded-For": "192.0.2.7"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Origin": "https://evil.example"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Origin": "null"}, 403),
    ],
)
def test_without_a_token_this_machine_alone(
    caller: tuple[str, int], base: str, headers: dict[str, str], status: int
) -> None:
    """No other machine, no proxy, and no page of another origin, also not under a rebound name."""
    with local(lambda: SimpleNamespace(settings=read_settings({})), caller, base) as client:
        wanted = {"accept": "application/json", "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover"}
        assert client.post(PATH, json=DISCOVER, headers={**wanted, **headers}).status_code == status


def test_odd_requests() -> None:
    """No stream is held open, no large body is read, nothing is taken for JSON that does not say so."""
    with local(lambda: SimpleNamespace(settings=read_settings({}))) as client:
        assert client.get(PATH, headers={"accept": "text/event-stream"}).status_code == 405
        json = {"accept": "application/json", "content-type": "application/json"}
        assert client.post(PATH, content=b"x" * (BODY_LIMIT + 1), headers=json).status_code == 413
        assert client.post(PATH, content=b"{}", headers={**json, "content-type": "text/plain"}).status_code == 400
        assert client.post(PATH, content=b"{", headers=json).status_code == 400


def test_while_the_core_cannot_be_had() -> None:
    """The caller is told what is broken, as by the API; nothing is let through unchecked."""

    def fail() -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    with local(fail) as client:
        answer = client.post(PATH, json=DISCOVER)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_unavailable")


def test_outside_of_its_lifespan() -> None:
    """Before the start and after the end it says so."""
    get_core = lambda: SimpleNamespace(settings=read_settings({}))  # noqa: E731
    app = Starlette(routes=mounted(PATH, get_core, McpEndpoint(get_core)))
    assert TestClient(app, client=HERE, base_url="http://127.0.0.1").post(PATH, json=DISCOVER).status_code == 503


def test_lifespan_can_be_entered_again() -> None:
    """An application that is started twice answers twice."""
    endpoint = McpEndpoint(lambda: SimpleNamespace(settings=read_settings({})))

    async def run() -> None:
        for _ in range(2):
            async with endpoint.running():
                pass

    anyio.run(run)


def test_the_application(env: Mapping[str, str], endpoint: object, tmp_path: Any) -> None:
    """Mounted beside the pages, and a connected client does not keep the server from stopping."""
    application = Application(env, tmp_path / "app.txt")
    try:
        application.wait()

        async def look(client: Client) -> list[Any]:
            found = [await client.list_tools(), await client.call_tool("memory_status", {})]
            await anyio.to_thread.run_sync(application.process.terminate)
            found.append(await anyio.to_thread.run_sync(lambda: application.process.wait(20)))
            return found

        tools, status, ended = asked(application.url + PATH, look, mode="legacy")
    finally:
        application.stop()
    assert len(tools.tools) > 30 and not status.is_error and ended is not None
    assert "Traceback" not in application.log.read_text(errors="replace")


def local(get_core: Callable[[], Any], caller: tuple[str, int] = HERE, base: str = "http://127.0.0.1:8501") -> Any:
    """A client within this process that says where it comes from."""
    endpoint = McpEndpoint(get_core)
    app = Starlette(routes=mounted(PATH, get_core, endpoint), lifespan=lambda _: endpoint.running())
    return TestClient(app, client=caller, base_url=base)
