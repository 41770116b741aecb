"""A saved view in a browser: kept from the head of a page, and its link in a browser that knows nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Visitor
from tests.e2e.test_search_page import OTHER, SAME, search

pytestmark = pytest.mark.browser


def kept(page: Page, name: str) -> str:
    """Keep what is shown; the link that the popover gives."""
    page.get_by_role("button", name="Views").click()
    page.get_by_label("Keep what is shown now as").fill(name)
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("Kept.", exact=True)).to_be_visible(timeout=30_000)
    link = page.get_by_test_id("stCode").filter(has_text="?view=").text_content() or ""
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/search\?view=[0-9a-f-]{36}", link.strip()), link
    return link.strip()


def test_a_link_opens_the_same_state_cold(visitor: Visitor, browser: Browser) -> None:
    """Query, dialog, boost and result, from the id alone; the link of the popover does the same in this tab."""
    page = visitor.open("/search")
    search(page)
    expect(page.get_by_text(SAME)).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stCode").filter(has_text="Selected vector memory chunks:")).to_be_visible(
        timeout=60_000
    )
    note = page.get_by_role("slider").first
    note.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text(OTHER)).to_be_visible(timeout=30_000)
    expect(page).to_have_url(f"{visitor.base}/search?boost_note=-0.3", timeout=30_000)
    link = kept(page, "No notes")
    cold = browser.new_context().new_page()
    cold.goto(link)
    for tab in (cold, page):
        if tab is page:
            page.get_by_role("link", name="Open this view").click()
        expect(tab.get_by_text("View: No notes.")).to_be_visible(timeout=60_000)
        expect(tab.get_by_text(OTHER)).to_be_visible(timeout=60_000)
        expect(tab.get_by_label("Query", exact=True)).to_have_value("serious relationship", timeout=60_000)
        expect(tab).to_have_url(f"{visitor.base}/search?boost_note=-0.3", timeout=30_000)
    cold.context.close()
    assert visitor.elsewhere == []
