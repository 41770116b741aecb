"""The Search page in a browser: a slider changes the ranking and the address, and the address gives it back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Visitor

pytestmark = pytest.mark.browser

SAME = "the same set as with the active profile"
OTHER = "another set than with the active profile"


def search(page: Page) -> None:
    expect(page.get_by_test_id("stForm")).to_be_visible(timeout=60_000)
    page.get_by_label("Find a dialog").fill("70114")
    page.get_by_label("Find a dialog").press("Enter")
    expect(page.get_by_role("combobox", name="Dialog (1 of 1")).to_be_visible(timeout=30_000)
    page.get_by_label("Query", exact=True).fill("serious relationship")
    page.get_by_test_id("stFormSubmitButton").get_by_role("button").click()


def test_a_slider_changes_the_ranking_and_the_link_shows_the_same(visitor: Visitor) -> None:
    """Notes at the lowest boost leave the prompt; a colleague with the link sees that set; reset brings them back."""
    page = visitor.open("/search")
    search(page)
    expect(page.get_by_text(SAME)).to_be_visible(timeout=60_000)
    block = page.get_by_test_id("stCode").filter(has_text="Selected vector memory chunks:")
    expect(block).to_contain_text("he worries about trust", timeout=60_000)
    note = page.get_by_role("slider").first
    note.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text(OTHER)).to_be_visible(timeout=30_000)
    expect(block).not_to_contain_text("he worries about trust", timeout=60_000)
    expect(page).to_have_url(f"{visitor.base}/search?boost_note=-0.3", timeout=30_000)
    moved = block.text_content() or ""
    page.goto(page.url)
    search(page)
    expect(page.get_by_text(OTHER)).to_be_visible(timeout=60_000)
    expect(block).to_have_text(moved, timeout=60_000)
    page.get_by_role("button", name="Reset to the active profile").click()
    expect(page.get_by_text(SAME)).to_be_visible(timeout=30_000)
    expect(page).to_have_url(f"{visitor.base}/search", timeout=30_000)
    assert visitor.elsewhere == []
