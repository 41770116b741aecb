"""A newcomer's first minutes in a real browser: pages open cold, a search explains itself, nobody else is asked."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Visitor

pytestmark = pytest.mark.browser

PAGES = {"/": "Overview", "/dialogs": "Dialogs", "/search": "Search", "/health": "Health", "/settings": "Settings"}
QUERY = "serious relationship"
NOTE = "he worries about trust"


@pytest.mark.parametrize(("path", "title"), PAGES.items())
def test_a_cold_deep_link_has_its_frame_and_asks_nobody_else(visitor: Visitor, path: str, title: str) -> None:
    """Each page opens by its link with navigation around it, without an exception and without a foreign request."""
    page = visitor.open(path)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_attached()
    page.wait_for_load_state("networkidle")
    assert page.get_by_test_id("stException").count() == 0
    assert visitor.elsewhere == []


def test_meaning_finds_what_words_do_not(visitor: Visitor, demo: str) -> None:
    """The query "serious relationship" brings the note about trust into the prompt; no word is shared."""
    page = visitor.open("/search")
    page.get_by_label("Find a dialog").fill("70114")
    page.get_by_label("Find a dialog").press("Enter")
    chosen = page.get_by_role("combobox", name=re.compile(r"^Dialog \(1 of 1"))
    expect(chosen).to_have_value(re.compile("^RU-"), timeout=30_000)
    page.get_by_label("Query").fill(QUERY)
    page.get_by_role("button", name="Search", exact=True).click()
    block = page.get_by_test_id("stCode").filter(has_text="Selected vector memory chunks:")
    expect(block).to_contain_text(NOTE, timeout=60_000)
    assert not set(QUERY.split()) & set(NOTE.split())
    assert visitor.elsewhere == []


def test_page_and_api_agree(demo: str) -> None:
    """The API puts the same note among its twelve, with its parts."""
    body = json.dumps({"ruId": "70114", "tuId": "3101", "query": QUERY, "explain": True}).encode()
    request = urllib.request.Request(
        f"{demo}/stack-ai/tips/memory/search", data=body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        results = json.load(answer)["results"]
    assert len(results) == 12
    note = next(row for row in results if row["text"] == NOTE)
    assert note["weighted_score"] == pytest.approx(note["cosine"] + 0.18)


def test_unknown_api_paths_are_json(demo: str) -> None:
    """Beside Streamlit, whose unknown paths answer 200 with its page, ours are 404 in JSON."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{demo}/stack-ai/tips/memory/statuss", timeout=10)
    assert refused.value.code == 404
    assert json.load(refused.value)["error"]["code"] == "not_found"
