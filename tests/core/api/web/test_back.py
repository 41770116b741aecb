"""From the sign-in back to the page that was asked for, and to no other place."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from core.api.web import Shield, Site
from core.api.web.back import COOKIE
from core.api.web.hosts import LOOPBACK

HERE = "http://127.0.0.1:8501"


def serve(base: str = "") -> TestClient:
    """Streamlit's two steps of a sign-in."""

    async def login(_: Request) -> Response:
        return RedirectResponse("https://provider.example/authorize", 302)

    async def callback(_: Request) -> Response:
        return RedirectResponse(f"{base}/", 302)

    routes = [Route(f"{base}/auth/login", login), Route(f"{base}/oauth2callback", callback)]
    site = Site(names=frozenset(LOOPBACK), base_path=base)
    app = Starlette(routes=routes, middleware=[Middleware(Shield, get_site=lambda: site)])
    return TestClient(app, base_url=HERE, follow_redirects=False, client=("127.0.0.1", 5))


@pytest.mark.parametrize("base", ["", "/desk"])
@pytest.mark.parametrize("page", ["/snapshots?view=expiry&from=2026-11-01", "/search?view=0a-b_c", "/dialogs"])
def test_back_to_the_page(base: str, page: str) -> None:
    """Once: the next sign-in starts anew. The address of the provider is left alone."""
    client = serve(base)
    there = client.get(f"{base}/auth/login", headers={"Referer": f"{HERE}{base}{page}"})
    assert there.headers["location"] == "https://provider.example/authorize"
    kept = there.headers["set-cookie"]
    assert "HttpOnly" in kept and "SameSite=Lax" in kept and f"Path={base or '/'};" in kept
    back = client.get(f"{base}/oauth2callback")
    assert back.headers["location"] == f"{base}{page}"
    assert client.get(f"{base}/oauth2callback").headers["location"] == f"{base}/"


@pytest.mark.parametrize(
    "referer",
    [
        "",
        f"{HERE}/",
        "https://evil.example/dialogs",
        f"{HERE}//evil.example/x",
        f"{HERE}/a/b",
        f"{HERE}/dialogs?x=%0d%0aSet-Cookie:a".replace("%0d%0a", ";"),
        f"{HERE}/dialogs?x=" + "a" * 1_001,
        "http://[half",
    ],
)
def test_nowhere_else(referer: str) -> None:
    """Another host, more than one step, a separator of cookies, a long one."""
    client = serve()
    assert "set-cookie" not in client.get("/auth/login", headers={"Referer": referer}).headers
    assert client.get("/oauth2callback").headers["location"] == "/"


def test_a_sign_in_that_was_given_up_leads_nowhere() -> None:
    """The next one begins at the start page and ends there."""
    client = serve()
    client.get("/auth/login", headers={"Referer": f"{HERE}/dialogs"})
    client.get("/auth/login", headers={"Referer": f"{HERE}/"})
    assert client.get("/oauth2callback").headers["location"] == "/"


@pytest.mark.parametrize(
    "value", ["//evil.example", "https://evil.example", "/\\evil.example", "/a/../b", "/dialogs#x"]
)
def test_a_cookie_of_ones_own_making(value: str) -> None:
    """Is looked at again: whoever could set one leads nobody astray."""
    answer = serve().get("/oauth2callback", headers={"Cookie": f"{COOKIE}={value}"})
    assert answer.headers["location"] == "/"
