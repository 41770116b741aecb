"""The companion in a real browser: what an AI proposes, decided by two people at once; eight glasses of water."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.events.actor import LOCAL_OPERATOR
from core.local.server import Endpoint
from tests.support.companion import agent
from tests.support.snapshots import count, row, upstream

pytestmark = pytest.mark.browser

DRAWN_MS = 90_000


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    """Another process beside the application, on the same database; nothing runs by itself in it."""
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as built:
        yield built


@pytest.fixture
def tabs(browser: Browser, app_server: str) -> Iterator[list[Page]]:
    """Two people, each with a browser of their own, far west of the server."""
    contexts = [
        browser.new_context(
            viewport={"width": 1440, "height": 1000}, timezone_id="America/Los_Angeles", base_url=app_server
        )
        for _ in range(2)
    ]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def test_a_proposed_cleanup_approved_by_two_at_once(desk: Core, tabs: list[Page], dsn: str) -> None:
    """Both press Approve before either is answered: the rows go once, as the AI, and the second one is told."""
    ago = datetime.now(UTC) - timedelta(hours=2)
    with psycopg.connect(dsn, autocommit=True) as sql:
        upstream(sql, *(row(day="2026-11-01", source_id=f"e{n}", expires_at=ago.isoformat()) for n in range(5)))
        call = desk.companion.act.executor.call
        shown: Any = call("preview_cleanup", {}, actor=agent()).llm_data
        asked = {"preview_id": shown["preview_id"], "expected_count": shown["expected_count"]}
        assert call("run_cleanup", asked, actor=agent()).success
        assert count(sql) == 5
        buttons = []
        for tab in tabs:
            tab.goto("/workbench")
            buttons.append(tab.get_by_role("button", name="Approve", exact=True))
            expect(buttons[-1]).to_be_visible(timeout=DRAWN_MS)
            expect(tab.get_by_text("It is full.", exact=True)).to_be_visible()
        for button in buttons:
            button.dispatch_event("click")  # returns at once: both are under way
        said = [tab.get_by_text(re.compile("were deleted|nothing was done")) for tab in tabs]
        for words in said:
            expect(words.first).to_be_visible(timeout=DRAWN_MS)
        for button in buttons:
            expect(button).to_have_count(0)
        assert count(sql) == 0
    late = [tab.get_by_text("nothing was done").count() for tab in tabs]
    assert sorted(late) == [0, 1]
    (ran,) = desk.events.store.query(type="CleanupRan").rows
    assert (ran.actor, ran.payload["deleted"]) == (agent(), 5)
    (decided,) = desk.events.store.query(type="ProposalDecided").rows
    assert decided.payload["decision"] == "approved" and decided.actor.kind == "user"
    tabs[0].goto("/workbench?view=decided")
    state = tabs[0].locator("td").filter(has_text=re.compile("^done$"))  # of a grid, whose cells are drawn on a canvas
    expect(state).to_have_count(1, timeout=DRAWN_MS)


def test_eight_glasses_by_the_keyboard(desk: Core, tabs: list[Page]) -> None:
    """Seven glasses in one line, the eighth by a click: the goal is reached once, its nudge is answered once."""
    mind, page = desk.companion.reflection, tabs[0]
    mind.goals.add(LOCAL_OPERATOR, "drink.water-8")
    page.goto("/drink")
    line = page.get_by_label("New drink")
    for ml in (250, 255, 260, 265, 270, 275, 280):
        line.fill(f"{ml} water", timeout=DRAWN_MS)
        line.press("Enter")
        expect(page.get_by_text(f"Drink: {ml} ml water")).to_be_visible(timeout=DRAWN_MS)
        expect(line).to_have_value("")
    assert not desk.events.store.query(type="GoalReached").rows
    page.get_by_role("button", name=re.compile("Glass of water")).dblclick()
    expect(page.get_by_text("Logged: Glass of water, 250 ml")).to_be_visible(timeout=DRAWN_MS)
    page.goto("/today")
    card = page.locator("[class*='st-key-nudge-feed-']").filter(has_text="Goal reached")
    expect(card).to_have_count(1, timeout=DRAWN_MS)
    assert len(desk.companion.records.drinks.list(desk.companion.records.today())) == 8
    assert len(desk.events.store.query(type="GoalReached").rows) == 1
    (nudge,) = [nudge for nudge in mind.nudges.open() if nudge.type == "goal_reached"]
    card.get_by_role("button", name="Dismiss").click()
    expect(card).to_have_count(0, timeout=DRAWN_MS)
    told = [row.payload for row in desk.events.store.query(type="NudgeResolved").rows]
    assert [one["outcome"] for one in told if one["nudge_id"] == nudge.id] == ["dismissed"]
