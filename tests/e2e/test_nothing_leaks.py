"""One run through every page with every secret set and a person in the memory: then all that was written is searched.

Secrets are looked for in everything that leaves the process: its output, its files, its traffic. What is known of the
person is looked for where none of it belongs: output, files, addresses, titles, events and jobs; and who the person is,
in the traffic too, as long as nothing was revealed.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from core.bootstrap import build_core
from core.config import FIELDS, read_settings
from core.embedding.test import TestEmbedder
from core.local.server import Endpoint
from core.memory.keys import tips_key
from pages._shared.sitemap import PLACES
from tests.support.application import Application
from tests.support.dialogs import body, message
from tests.support.wire import Wire

pytestmark = pytest.mark.browser

DRAWN_MS = 90_000
API = "/stack-ai/tips"
TOKEN = "leak-api-token-5a1d"
DATA_KEY = "bGVhay1kYXRhLWtleS0wMTIzNDU2Nzg5YWJjZGVmZ2g="  # 32 bytes, as a key of that kind is written
SECRETS = {
    "MEMORY_DESK_API_TOKEN": TOKEN,
    "BESCO_GEMINI_API_KEY": "leak-gemini-key-77f0",
    "SUPABASE_DB_URL": "postgresql://postgres:leak-db-password-c3@127.0.0.1:9/postgres",
    "MEMORY_DESK_WEBHOOK_URL": "http://127.0.0.1:9/services/leak-webhook-path-e9",
    "MEMORY_DESK_DATA_KEY": DATA_KEY,
}
SIGN_IN = {"cookie_secret": "leak7c0f9be2a1d84466b3f0c5e7d9a1b2c3", "client_secret": "leak-client-secret-10b2"}
NEVER_SEEN = (TOKEN, "leak-gemini-key-77f0", "leak-db-password-c3", "leak-webhook-path-e9", DATA_KEY, *SIGN_IN.values())

NAME, PHONE, EMAIL = "Zlatoslava", "+380671234599", "zlata.private@example.org"
SAID = f"my secret wish is a lighthouse, call {PHONE} or write {EMAIL}"
RU, TU = "ru-5550123", "tu-9990456"
MASKED = (NAME, PHONE, EMAIL, RU, TU)  # until somebody reveals them; a wish names nobody
PERSONAL = (*MASKED, "lighthouse")


@dataclass
class Seen:
    """What passed between browser and application, and what the address line and the tab said."""

    traffic: list[bytes] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self.shown.append(unquote(request.url)))
        page.on("response", self._response)
        page.on("websocket", lambda socket: socket.on("framereceived", self._frame))

    def _response(self, response: Any) -> None:
        self.traffic.append(json.dumps(response.headers).encode())
        if "/static/" not in response.url and response.request.resource_type in ("document", "fetch", "xhr", "image"):
            try:
                self.traffic.append(response.body())
            except Exception:  # a redirect has none, and one that was given up neither
                return

    def _frame(self, payload: bytes | str) -> None:
        self.traffic.append(payload if isinstance(payload, bytes) else payload.encode())


@dataclass
class Desk:
    application: Application
    data: Path
    wire: Wire
    key: str

    def ask(self, path: str, value: object | None = None, token: str = TOKEN) -> bytes:
        """An answer of the API, of whatever status."""
        request = urllib.request.Request(
            f"{self.application.url}{API}{path}",
            data=None if value is None else json.dumps(value).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.read()


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint, tmp_path: Path) -> Iterator[Desk]:
    """The application with every secret set, on a hosted database over a wire that can be cut."""
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as core:
        given = body(None, ruId=RU, tuId=TU)
        favorite = given["conversationJson"]["favorite"]
        favorite["profile"]["name"] = NAME
        favorite["allMessages"].append(message(60, SAID))
        core.ingest.ingest(given)
    wire = Wire(int(endpoint.url.rsplit(":", 1)[1]))
    settings = {name: value for name, value in SECRETS.items() if name in FIELDS}
    application = Application(
        {
            **settings,
            "MEMORY_DESK_DATA_DIR": str(tmp_path / "data"),
            "SUPABASE_URL": wire.url,
            "SUPABASE_SERVICE_ROLE_KEY": endpoint.service_role_key,
            "MEMORY_DESK_EMBEDDER": "gemini",
            "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9",
            "MEMORY_DESK_RATE_PER_MINUTE": "0",
        },
        tmp_path / "out.txt",
    )
    application.wait()
    yield Desk(application, tmp_path / "data", wire, endpoint.service_role_key)
    application.stop()
    wire.cut()


def drawn(page: Page, seen: Seen) -> None:
    expect(page.get_by_test_id("stHeading").first).to_be_attached(timeout=DRAWN_MS)
    expect(page.locator('[data-testid="stSkeleton"], [data-testid="stSpinner"]')).to_have_count(0, timeout=DRAWN_MS)
    page.wait_for_timeout(500)
    seen.shown += [unquote(page.url), page.title()]


def through_every_page(page: Page, seen: Seen) -> None:
    for place in PLACES:
        page.goto("/" if place is PLACES[0] else f"/{place.name}")
        drawn(page, seen)


def open_the_dialog(page: Page, seen: Seen) -> None:
    """The only row of the list; its cells are drawn on a canvas."""
    page.goto("/dialogs")
    drawn(page, seen)
    grid = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert grid
    page.mouse.click(grid["x"] + 12, grid["y"] + 55)
    expect(page.get_by_text("he worries about trust").first).to_be_attached(timeout=DRAWN_MS)
    drawn(page, seen)


def provoke(desk: Desk) -> list[bytes]:
    """Errors of every kind, each with something personal or a secret in the question."""
    wrong = "wrong-" + TOKEN[::-1]
    return [
        desk.ask("/memory/search", {"ruId": RU, "tuId": TU, "query": SAID}),
        desk.ask("/memory/search", {"ruId": RU, "tuId": TU, "query": SAID, "limit": "many"}),
        desk.ask("/memory/ingest", {"ruId": RU, "tuId": TU, "conversationJson": {"favorite": {"allMessages": SAID}}}),
        desk.ask("/memory/ingest", body(None, ruId=RU, tuId=TU, notes=[f"{SAID}. Again {NAME}."])),
        desk.ask(f"/usage/dialog/{tips_key(RU, TU)}"),
        desk.ask("/usage", {"requestId": NAME, "entries": [{"promptTokens": EMAIL}]}),
        desk.ask(f"/nowhere/{NAME}"),
        desk.ask("/memory/status", token=wrong),
    ]


def search(page: Page, seen: Seen) -> None:
    """By the page, and Gemini does not answer."""
    page.goto("/search")
    page.get_by_label("Find a dialog").fill(RU)
    page.get_by_label("Find a dialog").press("Enter")
    expect(page.get_by_role("combobox", name="Dialog (1 of 1")).to_be_visible(timeout=DRAWN_MS)
    page.get_by_label("Query", exact=True).fill(SAID)
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
    page.wait_for_timeout(3_000)
    drawn(page, seen)


def written(desk: Desk) -> dict[str, bytes]:
    """Every file that the application wrote: its output, and its data folder (the database is elsewhere)."""
    files = [desk.application.log, *(path for path in desk.data.rglob("*") if path.is_file())]
    return {path.name: path.read_bytes() for path in files}


def holding(what: Mapping[str, bytes], needles: tuple[str, ...]) -> list[str]:
    return [f"{needle} in {where}" for where, text in what.items() for needle in needles if needle.encode() in text]


def test_nothing_leaks(desk: Desk, browser: Browser, dsn: str) -> None:
    """Neither while all is well, nor while Gemini fails, nor while the database is away."""
    seen = Seen()
    context = browser.new_context(viewport={"width": 1440, "height": 1600}, base_url=desk.application.url)
    page = context.new_page()
    seen.watch(page)
    through_every_page(page, seen)
    open_the_dialog(page, seen)
    masked = list(seen.traffic)
    search(page, seen)
    answers = provoke(desk)
    desk.wire.cut()
    answers += provoke(desk)
    for name in ("/", "/dialogs", "/operations"):
        page.goto(name)
        drawn(page, seen)
    context.close()
    desk.application.stop()

    files = written(desk)
    assert b"incident" not in files["out.txt"]
    secrets = (*NEVER_SEEN, desk.key)
    traffic = {f"traffic {n}": part for n, part in enumerate([*seen.traffic, *answers])}
    assert len(seen.traffic) > 100
    assert holding(traffic, secrets) == []
    assert any(b"He worries about trust" in part for part in masked)
    assert holding({f"masked {n}": part for n, part in enumerate(masked)}, MASKED) == []
    assert holding(files, secrets) == []
    assert holding(files, PERSONAL) == []
    lines = {f"line {line}": line.encode() for line in seen.shown if urlsplit(line).path != "/nowhere"}
    assert holding(lines, (*secrets, *PERSONAL)) == []
    with psycopg.connect(dsn) as sql:
        rows = sql.execute(
            "select e::text from companion_events e union all select j::text from desk_jobs j"
        ).fetchall()
    assert rows
    assert holding({f"row {row[0][:60]}": row[0].encode() for row in rows}, (*secrets, *PERSONAL)) == []


def test_the_page_to_sign_in_tells_no_secret(
    browser: Browser, env: Mapping[str, str], tmp_path: Path, make_home: Callable[[], Path]
) -> None:
    """With a provider that does not answer, a callback that nobody asked for, and a forged cookie."""
    home = make_home()
    application = Application({**env, "HOME": str(home)}, tmp_path / "out.txt")
    application.wait()
    seen = Seen()
    context = browser.new_context(base_url=application.url)
    context.add_cookies([{"name": "_streamlit_user", "value": "forged", "url": application.url}])
    page = context.new_page()
    seen.watch(page)
    page.goto("/")
    expect(page.get_by_role("button", name="Sign in").first).to_be_visible(timeout=DRAWN_MS)
    for path in (
        "/",
        "/dialogs",
        "/auth/login?provider=leak",
        "/oauth2callback?state=x&code=y",
        "/oauth2callback?error=z",
    ):
        page.goto(path)
        page.wait_for_timeout(3_000)
    context.close()
    application.stop()
    output = {"out": (tmp_path / "out.txt").read_bytes()}
    assert seen.traffic
    assert holding(output | {f"{n}": part for n, part in enumerate(seen.traffic)}, tuple(SIGN_IN.values())) == []


@pytest.fixture
def make_home(tmp_path: Path) -> Callable[[], Path]:
    """A home folder whose secrets.toml sets up sign-in with a provider that does not answer."""

    def make() -> Path:
        folder = tmp_path / "home"
        (folder / ".streamlit").mkdir(parents=True)
        lines = [
            "[auth]",
            'redirect_uri = "http://127.0.0.1/oauth2callback"',
            *(f'{name} = "{value}"' for name, value in SIGN_IN.items()),
            'client_id = "desk"',
            'server_metadata_url = "http://127.0.0.1:9/.well-known/openid-configuration"',
        ]
        (folder / ".streamlit/secrets.toml").write_text("\n".join(lines))
        return folder

    return make
