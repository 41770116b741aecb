"""Signing in with an OpenID provider on this machine, in Chromium: the way in, the way out, and who stays outside."""

from __future__ import annotations

import json
import secrets
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError

import psycopg
import pytest
from oidc_provider_mock import User, run_server_in_thread
from playwright.sync_api import Browser, BrowserContext, Page, expect

from core.api.routes import PREFIX, TABLE
from tests.support.application import Application, free_port

pytestmark = pytest.mark.browser
PEOPLE = (
    User(sub="ann", claims={"email": "ann@example.org", "email_verified": True, "groups": ["ops"]}),
    User(sub="bob", claims={"email": "bob@example.org", "email_verified": True}),
    User(sub="eve", claims={"email": "ann@example.org", "email_verified": False}),
)
WITHIN = 30_000


class Desk(Application):
    """The application with two providers; the test's own secrets file, never one of the project's."""

    def __init__(self, env: Mapping[str, str], folder: Path, providers: Mapping[str, str]) -> None:
        self.secret = secrets.token_urlsafe(40)
        port = free_port()
        sections = "\n".join(
            f'[auth.{name}]\nclient_id = "desk"\nclient_secret = "{secrets.token_hex(8)}"\n'
            f'server_metadata_url = "{url}/.well-known/openid-configuration"\n'
            for name, url in providers.items()
        )
        file = folder / "secrets.toml"
        back = f"http://127.0.0.1:{port}/oauth2callback"
        file.write_text(f'[auth]\nredirect_uri = "{back}"\ncookie_secret = "{self.secret}"\n{sections}')
        super().__init__(dict(env) | {"STREAMLIT_SECRETS_FILES": str(file)}, folder / "log.txt", port=port)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def providers() -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        found = {}
        for name in ("staff", "guests"):
            server = stack.enter_context(run_server_in_thread(user_claims=PEOPLE))
            found[name] = f"http://127.0.0.1:{server.server_port}"
        yield found


@pytest.fixture
def settings() -> dict[str, str]:
    return {"MEMORY_DESK_ADMINS": "ann@example.org", "MEMORY_DESK_VIEWERS": "@example.org"}


@pytest.fixture
def desk(env: Mapping[str, str], settings: dict[str, str], providers: dict[str, str], tmp_path: Path) -> Iterator[Desk]:
    application = Desk({**env, **settings}, tmp_path, providers)
    application.wait()
    yield application
    application.stop()


def sign_in(page: Page, desk: Desk, subject: str, provider: str = "Staff", path: str = "/") -> None:
    page.goto(desk.url + path)
    page.get_by_role("button", name=f"Sign in with {provider}").click(timeout=WITHIN)
    page.get_by_placeholder("sub").fill(subject, timeout=WITHIN)
    page.get_by_role("button", name="Authorize").click()


def expect_inside(page: Page, who: str, roles: str) -> None:
    expect(page.get_by_text(f"{who}: {roles}")).to_be_visible(timeout=WITHIN)
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_visible(timeout=WITHIN)


def expect_outside(page: Page) -> None:
    expect(page.get_by_role("button", name="Sign in with Staff")).to_be_visible(timeout=WITHIN)
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(0)
    expect(page.get_by_role("heading", name="Overview")).to_have_count(0)


def test_from_the_way_in_to_the_way_out(
    desk: Desk, page: Page, context: BrowserContext, providers: Mapping[str, str]
) -> None:
    """A cold deep link shows the way in alone; whoever signed in sees their name and roles; a copy of the cookie opens
    nothing after they signed out."""
    asked: set[str] = set()
    page.on(
        "request", lambda r: asked.add("/".join(r.url.split("/", 3)[:3])) if page.url.startswith(desk.url) else None
    )
    page.goto(f"{desk.url}/dialogs")
    expect_outside(page)
    expect(page.get_by_role("button", name="Sign in with Guests")).to_be_visible()
    logo = page.get_by_test_id("stHeaderLogo").or_(page.get_by_test_id("stSidebarLogo")).first
    assert logo.evaluate("async e => { await e.decode(); return e.naturalWidth }") > 0
    sign_in(page, desk, "ann")
    expect_inside(page, "ann@example.org", "admin")
    page.goto(f"{desk.url}/access")
    expect(page.get_by_role("heading", name="Access")).to_be_visible(timeout=WITHIN)
    kept = [c for c in context.cookies() if c["name"].startswith("_streamlit_user")]
    assert kept and all(c["httpOnly"] and c["sameSite"] == "Lax" for c in kept)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="End session").click(timeout=WITHIN)  # the provider's own page
    expect_outside(page)
    context.add_cookies(kept)
    page.goto(f"{desk.url}/access")
    expect_outside(page)
    expect(page.get_by_text("Your sign-in was ended.")).to_be_visible()
    assert {host for host in asked if host.startswith("http")} <= {desk.url, *providers.values()}


def test_back_to_the_page_that_was_asked_for(desk: Desk, page: Page) -> None:
    """A colleague's link leads there through the sign-in."""
    sign_in(page, desk, "ann", path="/snapshots?view=expiry")
    expect(page.get_by_role("heading", name="Snapshots", exact=True)).to_be_visible(timeout=WITHIN)
    expect(page).to_have_url(f"{desk.url}/snapshots?view=expiry", timeout=WITHIN)


def test_a_cookie_of_ones_own_making(desk: Desk, page: Page, context: BrowserContext) -> None:
    """Forged, tampered with, or good: the API takes none, and the pages only the good one."""
    sign_in(page, desk, "bob")
    expect_inside(page, "bob@example.org", "viewer")
    (good,) = [c for c in context.cookies() if c["name"] == "_streamlit_user"]
    for path, (method, _, _) in TABLE.items():
        request = urllib.request.Request(
            desk.url + PREFIX + path.replace(":path", ""),
            headers={"Cookie": f"_streamlit_user={good['value']}", "Content-Type": "application/json"},
            method=method,
            data=b"{}" if method == "POST" else None,
        )
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 401, path
    claims = json.dumps({"is_logged_in": True, "email": "ann@example.org", "sub": "ann", "iat": 1})
    head, middle, tail = good["value"].partition("|") if "|" in good["value"] else (good["value"], "", "")
    for value in (claims.encode().hex(), f"{head[:-4]}AAAA{middle}{tail}", good["value"][:-2] + "zz"):
        context.clear_cookies()
        context.add_cookies([{"name": "_streamlit_user", "value": value, "url": desk.url}])
        page.goto(desk.url)
        expect_outside(page)


def test_an_address_that_nobody_vouches_for(desk: Desk, page: Page) -> None:
    """Somebody who only claims to be ann@example.org is not made an administrator by that."""
    sign_in(page, desk, "eve", "Guests")
    expect_inside(page, "ann@example.org", "viewer")


def test_a_role_that_is_lowered_and_a_session_that_is_ended(desk: Desk, page: Page, dsn: str) -> None:
    """Both count at the next click of somebody who is in."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(
            "insert into desk_role_rules (id, kind, value, roles, set_by, set_at) "
            "values (gen_random_uuid(), 'email', 'bob@example.org', '{admin}', 'test', now())"
        )
        sign_in(page, desk, "bob")
        expect_inside(page, "bob@example.org", "admin")
        page.get_by_test_id("stSidebarNavLink").filter(has_text="Access").click()
        expect(page.get_by_role("heading", name="Access")).to_be_visible(timeout=WITHIN)
        db.execute("update desk_role_rules set roles = '{viewer}'")
        page.wait_for_timeout(2_500)  # as long as rules may be kept
        page.get_by_text("API tokens").first.click()
        expect(page.get_by_text("This page is for those who may see who may what")).to_be_visible(timeout=WITHIN)
        db.execute("update desk_sign_ins set ended_at = now()")
        page.wait_for_timeout(2_500)
        page.get_by_test_id("stSidebarNavLink").first.click()
        expect_outside(page)


class TestExpiry:
    """A sign-in holds for as long as the settings say."""

    @pytest.fixture
    def settings(self) -> dict[str, str]:
        return {"MEMORY_DESK_ADMINS": "ann@example.org", "MEMORY_DESK_SESSION_HOURS": "0.002"}

    def test_it_expires(self, desk: Desk, page: Page) -> None:
        """After seven seconds the next click asks to sign in again."""
        sign_in(page, desk, "ann")
        expect_inside(page, "ann@example.org", "admin")
        page.wait_for_timeout(8_000)
        page.get_by_test_id("stSidebarNavLink").nth(1).click()
        expect(page.get_by_text("Your sign-in has expired.")).to_be_visible(timeout=WITHIN)
        expect_outside(page)
