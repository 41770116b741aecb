"""axe-core over every page in both themes, and the way to a search by the keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest
from axe_core_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect

from pages._shared.operations.sections import SECTIONS
from pages._shared.sitemap import PLACES
from pages._shared.tuning.views import VIEWS

pytestmark = pytest.mark.browser

PARTS = [("operations", f"section={s.name}") for s in SECTIONS] + [("tuning", f"view={v.name}") for v in VIEWS]
PARTS += [("access", f"view={name}") for name in ("roles", "people", "tokens")]
PARTED = {name for name, _ in PARTS}
ADDRESSES = [(p.name, "") for p in PLACES if p.name not in PARTED] + PARTS
SHARES = 4  # a test takes one share of the addresses: shorter tests, which say sooner what is wrong
TITLES = {p.name: p.title for p in PLACES}
BUSY = '[data-testid="stSkeleton"], [data-testid="stStatusWidget"], [data-testid="stSpinner"], [data-stale="true"]'

# What is drawn by Streamlit itself and cannot be mended from outside: rule, selector of what it lies in, reason.
STREAMLITS_OWN = (
    ("list", '[data-testid="stSidebarNavItems"]', "st.navigation puts a div for each heading between ul and li"),
    ("listitem", '[data-testid="stSidebarNavItems"]', "the same div, seen from the li"),
    ("duplicate-id-active", '[data-testid^="glide-cell-"]', "cells of two grids of one page have the same ids"),
    ("svg-img-alt", '[data-testid="stMetric"]', "the empty mark under the pointer, in the line of a metric"),
    ("color-contrast", '[class*="st-key-judge-query-"] label', "nothing but the page is behind it (elementsFromPoint)"),
    ("aria-required-attr", '[data-testid="stDateInput"]', "the parts of an empty date say `Empty` and have no number"),
)

# {rule, impact, where, why} of every serious or critical finding outside of `known`.
FINDINGS = """async (known) => {
  const found = (await axe.run(document, {resultTypes: ["violations"], iframes: false})).violations;
  const own = (rule, node) => known.some(([id, selector]) =>
    id === rule && document.querySelector(node.target[0])?.closest(selector));
  return found.filter(v => ["serious", "critical"].includes(v.impact)).flatMap(v =>
    v.nodes.filter(node => !own(v.id, node)).map(node => `${v.id} (${v.impact}): ${node.html.slice(0, 200)} `
      + node.failureSummary.split("\\n").slice(1).join(" ").trim()));
}"""

# A ring of the browser or a shadow of one on what has the focus.
RING = """() => {
  const look = getComputedStyle(document.activeElement);
  return (look.outlineStyle !== "none" && parseFloat(look.outlineWidth) > 0) || look.boxShadow !== "none";
}"""


def settle(page: Page) -> None:
    """Until nothing is drawn any more, for three looks in a row."""
    quiet = 0
    for _ in range(300):
        page.wait_for_timeout(200)
        quiet = 0 if page.locator(BUSY).count() else quiet + 1
        if quiet == 3:
            return
    raise AssertionError("the page did not come to rest")


def findings(page: Page, address: str) -> list[str]:
    page.evaluate(AXE_SCRIPT)
    known = [[rule, selector] for rule, selector, _ in STREAMLITS_OWN]
    found: list[str] = page.evaluate(FINDINGS, known)
    return [f"{address}: {line}" for line in found]


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.timeout(600)
def test_no_page_has_a_serious_finding(browser: Browser, demo: str, theme: Any, share: int) -> None:
    """Every page and every part of Operations, Tuning and Access, with the demo data."""
    context = browser.new_context(color_scheme=theme, bypass_csp=True, viewport={"width": 1440, "height": 1000})
    page, found = context.new_page(), list[str]()
    for name, query in ADDRESSES[share::SHARES]:
        page.goto(f"{demo}/{name}?{query}")
        expect(page.get_by_test_id("stHeading").get_by_text(TITLES[name], exact=True).first).to_be_visible(
            timeout=60_000
        )
        settle(page)
        found += findings(page, f"{name}?{query}")
    context.close()
    assert not found, "\n".join(found)


def test_a_finding_is_found(browser: Browser, demo: str) -> None:
    """An image without words and a pale sentence, put into a real page, are said; so the test above can fail."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(f"{demo}/settings")
    expect(page.get_by_test_id("stHeading").first).to_be_visible(timeout=60_000)
    page.evaluate(
        """() => document.querySelector('[data-testid="stMainBlockContainer"]').insertAdjacentHTML("afterbegin",
           '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><p style="color:#ccc;background:#fff">pale</p>')"""
    )
    said = "\n".join(findings(page, "settings"))
    context.close()
    assert "image-alt (critical)" in said
    assert "color-contrast (serious)" in said


def tab_to(page: Page, test_id: str, words: str, most: int = 120) -> None:
    """Tab until this has the focus; whatever link or button has it on the way shows that it has."""
    here = """([id, words]) => {
      const e = document.activeElement;
      const label = [e.getAttribute("aria-label"), e.textContent].join(" ");
      return [(e.closest(`[data-testid="${id}"]`) !== null) && label.includes(words), e.tagName, label];
    }"""
    for _ in range(most):
        page.keyboard.press("Tab")
        arrived, tag, label = page.evaluate(here, [test_id, words])
        if tag in ("A", "BUTTON"):
            assert page.evaluate(RING), f"no visible focus on {tag} {label!r}"
        if arrived:
            return
    raise AssertionError(f"{words!r} is not reached by the keyboard")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_search_by_the_keyboard_alone(browser: Browser, demo: str, theme: Any) -> None:
    """Tab to the navigation, Enter on Search, a query, Enter on its button: results, and the focus is always seen."""
    context = browser.new_context(color_scheme=theme, viewport={"width": 1440, "height": 1000})
    page = context.new_page()
    page.goto(f"{demo}/settings")
    expect(page.get_by_test_id("stHeading").first).to_be_visible(timeout=60_000)
    settle(page)
    tab_to(page, "stSidebarNavLink", "Search")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stForm")).to_be_visible(timeout=60_000)
    settle(page)
    tab_to(page, "stTextInput", "Find a dialog")
    page.keyboard.type("70114")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Dialog (1 of 1")).to_be_visible(timeout=30_000)
    settle(page)
    tab_to(page, "stForm", "Query")
    page.keyboard.type("serious relationship")
    tab_to(page, "stFormSubmitButton", "Search")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The chunks, best first")).to_be_visible(timeout=60_000)
    context.close()
