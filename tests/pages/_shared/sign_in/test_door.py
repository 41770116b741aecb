"""Who comes in: nobody, somebody, somebody without a role, and somebody whose sign-in is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import FRAME, ROOT, calm, texts

METADATA = "https://id.example.org/.well-known/openid-configuration"
PROVIDER = {"client_id": "desk", "client_secret": "s", "server_metadata_url": METADATA}
AUTH = {
    "redirect_uri": "https://desk.example.org/oauth2callback",
    "cookie_secret": "q9Zl2mVx7KpR4tWb8NcYd1sGhJf5uEaQ",
    "staff": PROVIDER,
    "guests": PROVIDER,
}


def person(name: str = "ann", hours_ago: float = 0.0, **more: Any) -> dict[str, Any]:
    who = {"iss": "https://id.example.org", "sub": name, "nonce": name, "email": f"{name}@example.org"}
    return {"is_logged_in": True, "iat": int(time.time() - 3600 * hours_ago), **who, **more}


@pytest.fixture
def come(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """The frame as somebody meets it at the address of a page."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MEMORY_DESK_ADMINS", "ann@example.org")

    def opened(claims: Mapping[str, Any], auth: object = AUTH) -> AppTest:
        at = AppTest.from_file(FRAME, default_timeout=60)
        at.secrets["auth"] = auth
        at.user = dict(claims)
        return at.run()

    return opened


def outside(at: AppTest) -> None:
    """The way in, and nothing else."""
    assert [b.label for b in calm(at).button] == ["Sign in with Staff", "Sign in with Guests"]
    assert [h.value for h in at.header] == ["Memory Desk"] and not at.sidebar.children


def test_nobody(come: Callable[..., AppTest]) -> None:
    """Every provider has a button; no page, no navigation, no health light."""
    outside(come({"is_logged_in": False}))


def test_somebody(come: Callable[..., AppTest]) -> None:
    """Their name, their roles and the way out stand in the sidebar; the pages of a viewer show no Access."""
    at = calm(come(person()))
    assert "ann@example.org: admin" in [t.value for t in at.sidebar.text]
    assert "Sign out" in [b.label for b in at.sidebar.button]
    at = calm(come(person("bob")))
    assert "bob@example.org: viewer" in [t.value for t in at.sidebar.text]
    at.switch_page(str(ROOT / "pages" / "access.py")).run()
    assert "This page is for those who may" in texts(at) and not at.dataframe


def test_somebody_without_a_role(come: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told so, and may leave."""
    monkeypatch.setenv("MEMORY_DESK_DEFAULT_ROLE", "none")
    at = calm(come(person("bob")))
    assert [b.label for b in at.button] == ["Sign out"] and not at.sidebar.children
    assert "have no role here" in texts(at)


@pytest.mark.parametrize("hours_ago", [13, -1])
def test_a_sign_in_of_another_time(come: Callable[..., AppTest], hours_ago: float) -> None:
    """Expired, or of a moment that has not come."""
    at = come(person(hours_ago=hours_ago))
    outside(at)
    assert [w.value for w in at.warning] == ["Your sign-in has expired. Sign in again to go on."]


def test_it_ends_while_somebody_looks(come: Callable[..., AppTest]) -> None:
    """The next click, of whatever is on the page, shows the way in."""
    from pages._shared.resources import core

    at = calm(come(person()))
    core().access_desk.sessions.end(at.user)
    outside(at.run())
    assert [w.value for w in at.warning] == ["Your sign-in was ended. Sign in again to go on."]


@pytest.mark.parametrize("auth", ["on", {}, {**AUTH, "cookie_secret": "short"}])
def test_a_section_that_is_wrong_lets_nobody_in(come: Callable[..., AppTest], auth: object) -> None:
    """Neither with the local roles nor with those of a good cookie."""
    at = calm(come(person(), auth))
    assert "**Sign-in cannot be shown**" in texts(at) and not at.header and not at.sidebar.children


def test_without_sign_in(open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said who everybody is; on a network it is a warning."""
    said = [c.value for c in open_page("overview").sidebar.caption]
    assert "No sign-in: everybody at this machine is admin." in said
    monkeypatch.setattr("pages._shared.sign_in.door.bound_address", lambda: "0.0.0.0")
    warned = [w.value for w in open_page("settings").sidebar.warning]
    assert warned == ["No sign-in: whoever reaches this server is admin."]
