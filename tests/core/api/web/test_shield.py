"""The middleware round a small application: what gets through, what does not, and how answers leave."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from core.api.web import Shield, Site, pace
from core.api.web.hosts import LOOPBACK

API = "/stack-ai/tips/memory/status"
STREAM = "/_stcore/stream"
SITE = Site(names=frozenset(LOOPBACK), scripts=("abc=",))
Serve = Callable[..., TestClient]


async def status(request: Request) -> Response:
    given = request.headers.get("authorization")
    return Response(status_code=401) if given not in (None, "Bearer right") else PlainTextResponse("ok")


async def page(_: Request) -> Response:
    answer = PlainTextResponse("page", headers={"X-Frame-Options": "ALLOWALL"})
    answer.set_cookie("_streamlit_user", "x", httponly=True)
    return answer


async def fails(_: Request) -> Response:
    raise ValueError("the secret of Ann")


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    async for data in socket.iter_bytes():
        await socket.send_bytes(data)


ROUTES = [
    Route(API, status),
    Route("/stack-ai/tips/fails", fails),
    Route("/_stcore/health", page),
    Route("/_stcore/metrics", page),
    Route("/_stcore/upload_file/s/f", page, methods=["PUT"]),
    WebSocketRoute(STREAM, echo),
    Route("/{rest:path}", page),
]


def serve(site: Site = SITE, base: str = "http://127.0.0.1:8501", **more: Any) -> TestClient:
    app = Starlette(routes=ROUTES, middleware=[Middleware(Shield, get_site=lambda: site, **more)])
    return TestClient(app, base_url=base, client=("127.0.0.1", 5), raise_server_exceptions=False)


def test_our_headers_stand_in_place_of_the_applications() -> None:
    """What a page gave under the same name is replaced, not doubled."""
    answer = serve().get("/dialogs")
    assert answer.headers.get_list("x-frame-options") == ["DENY"]
    assert "script-src 'self' 'sha256-abc='" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", API, "/media/x.png", STREAM])
def test_another_machines_name_is_refused_everywhere(path: str) -> None:
    """DNS rebinding against pages, API and media; the refusal sets no cookie."""
    answer = serve(base="http://evil.example:8501").get(path)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_health_answers_to_any_name() -> None:
    """A balancer asks by an address; the policy in the answer repeats no unknown name."""
    answer = serve(base="http://evil.example").get("/_stcore/health")
    assert answer.status_code == 200
    assert "evil" not in str(answer.headers)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
    ],
)
def test_other_sites_may_lead_here_and_no_more(headers: dict[str, str], status: int) -> None:
    """A link is fine; an image, a script or a fetch by a page of another origin is not."""
    assert serve().get("/media/x.png", headers=headers).status_code == status


def test_what_nobody_needs_is_closed() -> None:
    """Streamlit's figures of the process."""
    assert serve().get("/_stcore/metrics").status_code == 404


def test_cookies_are_secure_on_https() -> None:
    """By the scheme that a trusted proxy tells, or by the name that is reached over TLS alone."""
    assert "Secure" not in serve().get("/").headers["set-cookie"]
    assert "Secure" in serve(base="https://127.0.0.1").get("/").headers["set-cookie"]
    known = replace(SITE, names=frozenset({"desk.example"}), https_hosts=frozenset({"desk.example"}))
    answer = serve(known, base="http://desk.example").get("/")
    assert "Secure" in answer.headers["set-cookie"]
    assert "strict-transport-security" in answer.headers


def test_a_base_path_changes_no_rule() -> None:
    """Below `/desk` media are media."""
    client = serve(replace(SITE, base_path="/desk"))
    assert client.get("/desk/media/x.png").headers["cache-control"] == "no-store"
    assert "cache-control" not in client.get("/desk/dialogs").headers


def test_an_error_of_the_application_shows_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    """An incident for the caller; kind and place for the log; the message of the exception for nobody."""
    with caplog.at_level(logging.ERROR):
        answer = serve().get("/stack-ai/tips/fails")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Ann" not in answer.text + caplog.text
    assert "ValueError" in caplog.text


def test_refusals_of_the_router_are_json_in_the_api() -> None:
    """A 405 without a body becomes one in the API's form, and keeps its Allow."""
    answer = serve().delete(API)
    assert answer.status_code == 405
    assert answer.json()["error"]["code"] == "method_not_allowed"
    assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [(f"{API}?q={'x' * 9000}", {}, 414), (API, {"Content-Length": "99999999999999999999"}, 413)],
)
def test_sizes(path: str, headers: dict[str, str], status: int) -> None:
    """Larger than anything that is taken here: refused by its announcement."""
    answer = serve().request("GET", path, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]["code"]


def test_requests_of_one_caller_are_counted() -> None:
    """The third of two a minute is told when to come again; another token has its own count."""
    client = serve(replace(SITE, rate_per_minute=2))
    assert [client.get(API).status_code for _ in range(3)] == [200, 200, 429]
    refused = client.get(API)
    assert refused.json()["error"]["code"] == "too_many_requests"
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert client.get(API, headers={"Authorization": "Bearer right"}).status_code == 200
    assert client.get("/dialogs").status_code == 200


def test_guessing_tokens_is_slowed_and_spares_those_who_know() -> None:
    """After twenty wrong ones the address waits; a token that was right before still passes."""
    client = serve(replace(SITE, rate_per_minute=0))
    right = {"Authorization": "Bearer right"}
    assert client.get(API, headers=right).status_code == 200
    found = [client.get(API, headers={"Authorization": f"Bearer {n}"}).status_code for n in range(25)]
    assert found[:20] == [401] * 20
    assert found[-1] == 429
    assert client.get(API, headers=right).status_code == 200
    assert client.get(API).status_code == 200


def test_uploads_are_counted_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many an hour and person; a cookie that nobody signed makes no other person."""
    monkeypatch.setattr(pace, "UPLOADS", 2.0)
    client = serve(replace(SITE, person=lambda cookies: cookies.get("signed")))
    path = "/_stcore/upload_file/s/f"
    found = []
    for n in range(3):
        client.cookies.set("_streamlit_user", str(n))
        found.append(client.put(path, content=b"x").status_code)
    assert found == [200, 200, 429]
    client.cookies.set("signed", "ann")
    assert client.put(path, content=b"x").status_code == 200


def opens(client: TestClient, headers: dict[str, str]) -> bool:
    try:
        with client.websocket_connect(STREAM, headers=headers) as socket:
            socket.send_bytes(b"a")
            return socket.receive_bytes() == b"a"
    except WebSocketDisconnect as closed:
        assert closed.code == 1008
        return False


@pytest.mark.parametrize(
    ("headers", "open_"),
    [
        ({"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:8501"}, True),
        ({"Host": "127.0.0.1:8501"}, True),
        ({"Host": "127.0.0.1:8501", "Origin": "https://evil.example"}, False),
        ({"Host": "127.0.0.1:8501", "Origin": "http://127.0.0.1:9999"}, False),
        ({"Host": "evil.example:8501", "Origin": "http://evil.example:8501"}, False),
        ({"Host": "127.0.0.1:8501", "Origin": "null"}, False),
    ],
)
def test_only_a_page_of_ours_opens_the_socket(headers: dict[str, str], open_: bool) -> None:
    """By Host against rebinding, by Origin against pages of others."""
    assert opens(serve(), headers) is open_


def test_sessions_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than so many at once; one that closes makes room."""
    monkeypatch.setattr(pace, "SESSIONS", 1)
    client = serve()
    here = {"Host": "127.0.0.1:8501"}
    with client.websocket_connect(STREAM, headers=here):
        assert not opens(client, here)
    assert opens(client, here)


def test_what_no_page_offers_is_dropped_on_the_way() -> None:
    """The message before and the one after arrive."""
    client = serve(drop=lambda data: data == b"clear")
    with client.websocket_connect(STREAM, headers={"Host": "127.0.0.1:8501"}) as socket:
        for data in (b"clear", b"after"):
            socket.send_bytes(data)
        assert socket.receive_bytes() == b"after"


def test_files_of_a_page_are_for_whoever_is_signed_in() -> None:
    """Where people sign in at all; the page itself is answered, since it asks them to."""

    def person(cookies: Mapping[str, str]) -> str | None:
        return cookies.get("who")

    client = serve(replace(SITE, signed=True, person=person, public=frozenset({"/media/icon.png"})))
    assert client.get("/media/icon.png").status_code == 200
    assert client.get("/media/x.png").status_code == 403
    assert client.get("/dialogs").status_code == 200
    assert client.get("/media/x.png", headers={"Cookie": "who=ann"}).status_code == 200
    assert serve().get("/media/x.png").status_code == 200
