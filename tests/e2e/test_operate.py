"""The pages of those on call, in a real browser: with the demo data, with nothing, and with the database gone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from core.local import state as states
from tests.e2e.conftest import Visitor, ask
from tests.support.wire import Wire

pytestmark = pytest.mark.browser

DRAWN_MS = 90_000
BROKEN = re.compile("cannot be shown|Data from ")

# Address, title, and words that stand there with the demo data.
FULL = [
    ("/snapshots", "Snapshots", ("Snapshots kept", "Daily syncs (dialogs by day)", "Expired")),
    ("/snapshots?view=compare", "Snapshots", ("Dialogs that differ (entities)",)),
    ("/snapshots?view=expiry", "Snapshots", ("Snapshots by expiry",)),
    (
        "/usage",
        "Usage",
        ("Tokens by day", "Dialogs by tokens", "Requests by tokens", "Unusual hours", "grok-5-preview"),
    ),
    ("/operations", "Operations", ("Ingest",)),
    ("/operations?section=reembed", "Operations", ("Chunks of other models (rows)",)),
    ("/operations?section=cleanup", "Operations", ("Expired snapshots by type (rows)",)),
    ("/operations?section=merge", "Operations", ("Pairs with rows under two keys",)),
    ("/activity", "Activity", ("Events", "Newest first")),
    ("/health", "Health", ("Migrations",)),
]

# The same on a database that holds nothing.
EMPTY = [
    ("/", "Overview", ("No dialog is stored yet",)),
    ("/snapshots", "Snapshots", ("Snapshots kept",)),
    ("/usage", "Usage", ("No call is logged yet",)),
    ("/operations", "Operations", ("Ingest",)),
    ("/operations?section=reembed", "Operations", ("Nothing to embed again",)),
    ("/operations?section=merge", "Operations", ("No pair stands under two keys",)),
    ("/operations?section=cleanup", "Operations", ("No snapshot is expired",)),
    ("/operations?section=jobs", "Operations", ("No job has run yet",)),
    ("/activity", "Activity", ("Events",)),
    ("/health", "Health", ("Migrations",)),
]

# What a page shows only where its data came.
PAGES = {
    "/snapshots": "Snapshots kept",
    "/usage": "Dialogs by tokens",
    "/operations?section=cleanup": "Expired snapshots by type (rows)",
    "/activity": "Newest first",
}


@pytest.fixture(scope="module")
def nothing(start_app: Callable[[Mapping[str, str]], str], folders: Callable[[], Path]) -> str:
    """URL of an application whose database is fresh and stays without demo data."""
    return start_app({"MEMORY_DESK_DATA_DIR": str(folders()), "MEMORY_DESK_DEMO": "off"})


@pytest.fixture
def stranger(browser: Browser, nothing: str) -> Iterator[Visitor]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    yield Visitor(context.new_page(), nothing)
    context.close()


@pytest.fixture(scope="module")
def wire(demo: str, demo_folder: Path) -> Iterator[Wire]:
    """The way to the demo's database, for an application that knows it as a hosted one and cannot revive it."""
    state = states.read(demo_folder)
    assert state is not None
    wire = Wire(state.port)
    yield wire
    wire.cut()


@pytest.fixture(scope="module")
def away(
    start_app: Callable[[Mapping[str, str]], str], demo_folder: Path, folders: Callable[[], Path], wire: Wire
) -> str:
    """URL of that application."""
    state = states.read(demo_folder)
    assert state is not None
    return start_app(
        {
            "MEMORY_DESK_DATA_DIR": str(folders()),
            "SUPABASE_URL": wire.url,
            "SUPABASE_SERVICE_ROLE_KEY": state.keys.service_role,
        }
    )


def shows(page: Page, title: str, words: tuple[str, ...]) -> None:
    """The page stands under its title with these words, whole: nothing broken, no exception."""
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=DRAWN_MS)
    for word in words:
        expect(page.get_by_text(word, exact=False).first).to_be_attached(timeout=DRAWN_MS)
    assert page.get_by_text("cannot be shown").count() == 0
    assert page.get_by_text("met an error of its own").count() == 0
    assert page.get_by_test_id("stException").count() == 0


@pytest.mark.parametrize(("path", "title", "words"), FULL, ids=[path for path, *_ in FULL])
def test_full(visitor: Visitor, path: str, title: str, words: tuple[str, ...]) -> None:
    """With the demo data each page shows what it is for, and asks nobody else."""
    shows(visitor.open(path), title, words)
    assert visitor.elsewhere == []


@pytest.mark.parametrize(("path", "title", "words"), EMPTY, ids=[path for path, *_ in EMPTY])
def test_empty(stranger: Visitor, path: str, title: str, words: tuple[str, ...]) -> None:
    """On a fresh database each page says that there is nothing, and is neither broken nor blank."""
    shows(stranger.open(path), title, words)
    assert stranger.elsewhere == []


def test_overview_and_usage_agree(visitor: Visitor, demo: str) -> None:
    """Today's tokens on the Overview are those of the API for today."""
    today = ask(demo, "/usage/summary?from=" + time.strftime("%Y-%m-%d", time.gmtime()) + "&groupBy=day")
    total = sum(row["total"] for row in today["rows"])
    page = visitor.open("/")
    figure = page.get_by_test_id("stMetric").filter(has_text="Tokens today")
    expect(figure).to_be_visible(timeout=DRAWN_MS)
    shown = figure.get_by_test_id("stMetricValue").inner_text()
    scale = {"k": 1_000, "M": 1_000_000}.get(shown[-1], 1)
    assert float(shown.strip("kM").replace(",", "")) * scale == pytest.approx(total, rel=0.01, abs=1)


def test_database_gone_while_pages_are_open(browser: Browser, away: str, wire: Wire) -> None:
    """Each open page says so and offers a retry, keeps its frame, and is whole again by itself once the database is
    back; Health says `down`."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    try:
        tabs = {path: context.new_page() for path in (*PAGES, "/health")}
        for path, page in tabs.items():
            page.goto(away + path)
        for path, word in PAGES.items():
            expect(tabs[path].get_by_text(word).first).to_be_attached(timeout=DRAWN_MS)
        expect(tabs["/health"].get_by_text("Migrations").first).to_be_attached(timeout=DRAWN_MS)

        wire.cut()
        for path in PAGES:
            _reload_until_broken(tabs[path])
            expect(tabs[path].get_by_role("button", name=re.compile("^Retry")).first).to_be_visible(timeout=DRAWN_MS)
            expect(tabs[path].get_by_test_id("stSidebarNavLink").first).to_be_attached(timeout=DRAWN_MS)
            assert tabs[path].get_by_test_id("stException").count() == 0
        expect(tabs["/health"].get_by_test_id("stMain").get_by_text("down", exact=True).first).to_be_visible(
            timeout=DRAWN_MS
        )

        wire.mend()
        for path, word in PAGES.items():
            expect(tabs[path].get_by_text(BROKEN)).to_have_count(0, timeout=DRAWN_MS)
            expect(tabs[path].get_by_text(word).first).to_be_attached(timeout=DRAWN_MS)
        expect(tabs["/health"].get_by_test_id("stMain").get_by_text("down", exact=True)).to_have_count(
            0, timeout=DRAWN_MS
        )
    finally:
        wire.mend()
        context.close()


def test_retry_does_no_harm_while_the_database_is_gone(browser: Browser, away: str, wire: Wire) -> None:
    """Pressed too early, the page says the same again, and comes back all the same."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    try:
        page = context.new_page()
        wire.cut()
        page.goto(f"{away}/snapshots")
        _reload_until_broken(page)
        page.get_by_role("button", name=re.compile("^Retry")).first.click(timeout=DRAWN_MS)
        expect(page.get_by_text(BROKEN).first).to_be_visible(timeout=DRAWN_MS)
        assert page.get_by_test_id("stException").count() == 0
        wire.mend()
        expect(page.get_by_text(BROKEN)).to_have_count(0, timeout=DRAWN_MS)
        expect(page.get_by_text("Snapshots kept")).to_be_visible(timeout=DRAWN_MS)
    finally:
        wire.mend()
        context.close()


def _reload_until_broken(page: Page, seconds: float = 90) -> None:
    """Answers may be as old as half a minute before the database is asked again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        page.reload()
        try:
            expect(page.get_by_text(BROKEN).first).to_be_visible(timeout=8_000)
        except AssertionError:
            continue
        return
    raise AssertionError("the page does not say that the database is gone")
