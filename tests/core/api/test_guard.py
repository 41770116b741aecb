"""Who may call the API: loopback without a token, its bearer with one; and which bodies are read at all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from core.access.checking import SEND
from core.api import PREFIX, build_routes, mounted
from core.api.guard import BODY_LIMIT, read_body
from core.api.routes import TABLE
from core.config import read_settings
from core.errors import ConfigError, DatabaseUnavailable, InputError, Unauthenticated

HERE = ("127.0.0.1", 50000)
JSON = {"Content-Type": "application/json"}


def bearer(token: str) -> Any:
    """Of this desk there is no token but the environment's."""
    raise Unauthenticated("The API token is not valid.", hint=SEND)


def client(
    env: dict[str, str] | None = None, caller: tuple[str, int] = HERE, base: str = "http://127.0.0.1:8501", **parts: Any
) -> TestClient:
    """A client of the API over a core that holds just what the test needs."""
    settings = read_settings({"MEMORY_DESK_DATA_DIR": "unused", **(env or {})})
    health = SimpleNamespace(memory_status=lambda: {"ready": True, "table": "client_memory_chunks", "totalChunks": 3})
    core = SimpleNamespace(settings=settings, health=health, access_desk=SimpleNamespace(bearer=bearer), **parts)
    return TestClient(Starlette(routes=build_routes(lambda: core)), client=caller, base_url=base)


def test_local_caller_needs_no_token() -> None:
    """A program on this machine is answered while no token is set."""
    assert client().get(PREFIX + "/memory/status").json() == {
        "ready": True,
        "table": "client_memory_chunks",
        "totalChunks": 3,
    }


@pytest.mark.parametrize(
    ("caller", "base", "headers", "status"),
    [
        (("192.0.2.7", 1), "http://127.0.0.1:8501", {}, 403),
        (HERE, "http://desk.example:8501", {}, 403),
        (HERE, "http://127.0.0.1:8501", {"X-Forwarded-For": "192.0.2.7"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Forwarded": "for=192.0.2.7"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Origin": "https://evil.example"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Origin": "null"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Origin": "http://[half"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Host": "[::1"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Host": "desk.example@127.0.0.1"}, 403),
        (HERE, "http://127.0.0.1:8501", {"Origin": "http://127.0.0.1:8501"}, 200),
        (HERE, "http://localhost:8501", {}, 200),
        (("::1", 1), "http://[::1]:8501", {}, 200),
    ],
)
def test_without_a_token_only_this_machine(
    caller: tuple[str, int], base: str, headers: dict[str, str], status: int
) -> None:
    """Other machines, proxies, foreign hosts and pages of other origins are refused; loopback names are not."""
    answer = client(caller=caller, base=base).get(PREFIX + "/memory/status", headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["error"]["code"] == "forbidden"


@pytest.mark.parametrize(
    ("header", "status"),
    [(None, 401), ("Bearer wrong", 401), ("Basic sesame", 401), ("Bearer sesame", 200), ("bearer sesame", 200)],
)
def test_with_a_token_every_call_shows_it(header: str | None, status: int) -> None:
    """The token opens the API to other machines, and closes it to this one without it."""
    desk = client({"MEMORY_DESK_API_TOKEN": "sesame"}, caller=("192.0.2.7", 1), base="https://desk.example")
    answer = desk.get(PREFIX + "/memory/status", headers={"Authorization": header} if header else {})
    assert answer.status_code == status
    assert "sesame" not in answer.text
    assert (answer.headers.get("www-authenticate") == "Bearer") == (status == 401)


@pytest.mark.parametrize("path", ["/memory/serch", "/", "", "/memory", "/memory/status/", "/%2e%2e/etc"])
def test_unknown_paths_are_json_404(path: str) -> None:
    """Below the prefix nothing falls through to the dashboard's page."""
    answer = client().get(PREFIX + path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_wrong_method_says_which_is_right() -> None:
    """A known path asked with another method is 405 with Allow."""
    answer = client().get(PREFIX + "/memory/search")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_bodies(kind: str) -> None:
    """The content types that any web page may post are refused."""
    answer = client().post(PREFIX + "/memory/search", content=b"{}", headers={"Content-Type": kind})
    assert answer.status_code == 415
    assert answer.json()["error"]["field"] == "Content-Type"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b'"text"', b"null", b'{"a":NaN}', b"\xff\xfe", b"[" * 200_000, b'{"n":' + b"9" * 9000 + b"}"],
)
def test_unusable_bodies_name_the_body(body: bytes) -> None:
    """Not JSON, not an object, absurdly nested: 400 naming `body`, never a traceback."""
    answer = client().post(PREFIX + "/memory/search", content=body, headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["error"]["field"] == "body"


def test_a_body_over_the_limit_is_413() -> None:
    """20 MB is the end, declared or streamed."""
    declared = client().post(PREFIX + "/memory/ingest", content=b" " * (BODY_LIMIT + 1), headers=JSON)
    streamed = client().post(PREFIX + "/memory/ingest", content=(b" " * 2**20 for _ in range(21)), headers=JSON)
    assert declared.status_code == streamed.status_code == 413


def test_typed_errors_keep_code_hint_and_retry() -> None:
    """What core raises reaches the caller as it is, with Retry-After where a retry may help."""

    def down(_: Any) -> None:
        raise DatabaseUnavailable("The memory database does not answer.", hint="Retry.", detail="secret detail")

    answer = client(search=SimpleNamespace(search=down)).post(
        PREFIX + "/memory/search", content=json.dumps({"dialogKey": "k", "query": "q"}), headers=JSON
    )
    assert answer.status_code == 503
    error = {"code": "database_unavailable", "message": "The memory database does not answer.", "hint": "Retry."}
    assert answer.json() == {"error": error}
    assert answer.headers["retry-after"] == "5"


def test_a_bug_is_an_incident_without_internals(caplog: pytest.LogCaptureFixture) -> None:
    """An unforeseen exception gives an incident id; neither answer nor log repeats its message."""

    def bug(_: Any) -> None:
        raise RuntimeError("he worries about trust")

    answer = client(search=SimpleNamespace(search=bug)).post(
        PREFIX + "/memory/search", content=json.dumps({"dialogKey": "k", "query": "q"}), headers=JSON
    )
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "worries" not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text


def test_a_core_that_cannot_be_built_is_an_answer(tmp_path: Path) -> None:
    """While core cannot start, the API says so; it does not vanish."""

    def broken() -> Any:
        raise ConfigError("The configuration has a problem.", hint="- PORT: no number")

    answer = TestClient(Starlette(routes=build_routes(broken)), client=HERE).get(PREFIX + "/health")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "config"


def test_a_caller_that_hangs_up_is_no_incident() -> None:
    """A body that breaks off is the caller's doing: a typed error, nothing in the log."""

    async def hang_up() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "POST", "headers": [(b"content-type", b"application/json")]}
    with pytest.raises(InputError, match="broke off"):
        asyncio.run(read_body(Request(scope, hang_up)))


@pytest.mark.parametrize("cookie", ["", "_streamlit_user=signed"])
@pytest.mark.parametrize("path", [*TABLE, "/mcp"])
def test_where_people_sign_in_a_program_shows_a_token(path: str, cookie: str) -> None:
    """On this machine too, on every route; a browser's cookie is none."""
    core = SimpleNamespace(settings=read_settings({"MEMORY_DESK_DATA_DIR": "unused"}))
    mcp = mounted(PREFIX + "/mcp", lambda: core, lambda *_: None, lambda: True)
    app = Starlette(routes=[*mcp, *build_routes(lambda: core, lambda: True)])
    there = TestClient(app, client=HERE, base_url="http://127.0.0.1:8501")
    method = TABLE[path][0] if path in TABLE else "POST"
    answer = there.request(method, PREFIX + path.replace(":path", ""), headers={"Cookie": cookie} if cookie else {})
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"
