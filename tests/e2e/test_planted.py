"""Text that tries to be more than text, on every page of a browser: it stays text, and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.local.server import Endpoint
from pages._shared.sitemap import PLACES
from tests.support import planted

pytestmark = pytest.mark.browser

DRAWN_MS = 90_000
# Whatever planted text would become if anything took it for more than text.
ELEMENTS = """() => {
  const found = [];
  const alone = new Set(['PLANTED', 'PLANTED^2', 'Zorro']);
  const tags = 'strong,b,em,i,del,s,h1,h2,h3,blockquote,li,script,iframe,a,img,.katex,[class*=Colored],span[style]';
  for (const e of document.querySelectorAll(tags)) {
    const text = (e.textContent || '').trim(), to = e.getAttribute('href') || e.getAttribute('src') || '';
    if (alone.has(text) || /evil|planted|javascript:/i.test(to) || (e.matches('.katex') && /PLANTED/.test(text)))
      found.push(e.outerHTML.slice(0, 200));
  }
  for (const e of document.querySelectorAll('[onerror],[onload],[onclick]')) found.push(e.outerHTML.slice(0, 200));
  return found;
}"""
# Our own words for it: no navigation entry of ours has that sign.
SIGN = '[aria-label="home icon"]'


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as built:
        planted.plant(built)
        yield built


@pytest.fixture
def tab(browser: Browser, app_server: str, desk: Core) -> Iterator[tuple[Page, list[str]]]:
    """A tab, and what it asked of other hosts, ran or was refused by the policy."""
    context = browser.new_context(viewport={"width": 1440, "height": 2400}, base_url=app_server)
    context.add_init_script(
        """window.ran = []; window.planted = () => window.ran.push('ran');
        document.addEventListener('securitypolicyviolation', e =>
          e.blockedURI === 'wasm-eval' || window.ran.push(e.violatedDirective + ' ' + e.blockedURI));"""
    )
    page, wrong = context.new_page(), []
    here = urlsplit(app_server).netloc

    def note(request: Any) -> None:
        if not request.url.startswith(("data:", "blob:")) and urlsplit(request.url).netloc != here:
            wrong.append(f"asked {request.url}")

    page.on("request", note)
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    yield page, wrong
    context.close()


def inert(page: Page) -> list[str]:
    """What is wrong with the page as it stands, once it is drawn."""
    expect(page.get_by_test_id("stHeading").first).to_be_attached(timeout=DRAWN_MS)
    expect(page.locator('[data-testid="stSkeleton"], [data-testid="stSpinner"]')).to_have_count(0, timeout=DRAWN_MS)
    page.wait_for_timeout(700)
    assert page.get_by_text("met an error of its own").count() == 0
    return [*page.evaluate(ELEMENTS), *page.evaluate("window.ran"), *["sign"] * page.locator(SIGN).count()]


def test_planted_text_is_text_on_every_page(tab: tuple[Page, list[str]]) -> None:
    """No script ran, no other host was asked, no element came out of it; and it is there to be read."""
    page, wrong = tab
    found: dict[str, list[str]] = {}
    seen = 0
    paths = [f"/{place.name}" if place is not PLACES[0] else "/" for place in PLACES]
    paths += ["/tuning?view=labels", "/workbench?view=ai", "/insights?view=facts", "/usage?period=30d"]
    for path in paths:
        page.goto(path)
        found[path] = inert(page)
        seen += planted.MARK in page.get_by_test_id("stMainBlockContainer").inner_text()
    assert {path: bad for path, bad in found.items() if bad} == {}
    assert wrong == []
    assert seen >= 8, seen


def test_planted_text_is_text_in_a_search(tab: tuple[Page, list[str]]) -> None:
    """The dialog found, the hits, why not the others, the prompt block; then the dialog itself and the audit of it."""
    page, wrong = tab
    page.goto("/search")
    page.get_by_label("Find a dialog").fill(planted.RU)
    page.get_by_label("Find a dialog").press("Enter")
    expect(page.get_by_role("combobox", name="Dialog (1 of 1")).to_be_visible(timeout=DRAWN_MS)
    page.get_by_label("Query", exact=True).fill(planted.LONG)
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()
    block = page.get_by_test_id("stCode").filter(has_text="Selected vector memory chunks:")
    expect(block).to_contain_text("[PLANTED](javascript:planted())", timeout=DRAWN_MS)
    found = {"search": inert(page)}
    for name in ("Dialogs", "Prompt audit", "Tuning", "Snapshots", "Usage", "Operations"):
        page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible(timeout=DRAWN_MS)
        found[name] = inert(page)
    assert {where: bad for where, bad in found.items() if bad} == {}
    assert wrong == []
