"""Masked on the other pages too: work on the memory, what it cost, how it is judged, what the companion says of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.events import run_as
from core.events.actor import ai
from core.memory.keys import both_keys
from core.memory.requests import AcrossRequest, SearchRequest
from pages._shared.session import DIALOG
from tests.pages.conftest import calm, texts
from tests.pages.test_veil import PERSONAL, leaked, reveal, sent  # noqa: F401
from tests.support.people import KEY, QUERY, RU, TU, dialog, remember

pytestmark = pytest.mark.masked
Open = Callable[..., AppTest]
MINE = {DIALOG: (KEY, RU, TU)}
NOTE = "Олена Ковальська, olena.k@example.org"
REQUEST = "00000000-0000-4000-8000-00000000beef"
ASSISTANT = ai("mcp:desk", "desk (MCP)", mission_id="mcp:1", iteration_id="c-1", rationale="asked over MCP")


@pytest.fixture
def worked(core: Core, dsn: str) -> Core:
    """Two dialogs and everything that is done with them."""
    remember(core, dsn)
    core.ingest.ingest(
        {**dialog("Олена Ковальська", RU, TU), "ruId": None, "tuId": None, "clientId": RU, "womanId": TU}
    )
    core.search.search(SearchRequest(KEY, QUERY, request_id=REQUEST))
    core.search.across(AcrossRequest(QUERY))
    entry = {"provider": "p", "model": "m", "phase": "x", "promptTokens": 7, "completionTokens": 2}
    core.usage.record({"requestId": REQUEST, "dialogKey": KEY, "entries": [entry]})
    made = core.tuning.labels.create("first set", "of olena.k@example.org")
    core.tuning.labels.add(made, KEY, [QUERY], category="facts")
    sheet = core.tuning.labels.query_set(made)
    chunks = [row.id for row in core.dialogs.chunks(KEY).rows]
    core.tuning.labels.judge(sheet.queries[0].id, chunks[:3], 2, why=NOTE)
    core.corrections.exclude(chunks[4:6], "stale")
    lines = [json.dumps(dialog("Олена Ковальська", RU, TU)), json.dumps({"ruId": RU, "conversationJson": {}})]
    staged = core.intake.stage([("Олена Ковальська.jsonl", "\n".join(lines).encode())])
    core.jobs.finish_here(core.intake.start(staged, windows=False).id)
    core.erasures.preview(KEY)
    kept, dropped = both_keys(RU, TU)
    for tool, given in (
        ("merge_dialog_keys", {"kept": kept, "dropped": dropped}),
        ("search_memory", {"dialog_key": KEY, "query": QUERY}),
    ):
        with run_as(ASSISTANT):
            core.companion.act.executor.call(tool, given, actor=ASSISTANT)
    assert core.events.flush(10)
    return core


PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("overview", {}),
    *(("usage", {"range": span}) for span in ("7d", "90d")),
    *(("tuning", {"view": view}) for view in ("sets", "judge", "evaluate", "rent", "profiles", "whatif")),
    *(
        ("operations", {"section": name})
        for name in ("ingest", "reembed", "photos", "merge", "superseded", "cleanup", "erase", "jobs")
    ),
    *((name, {}) for name in ("health", "access", "activity", "settings", "companion_settings")),
    *((name, {}) for name in ("feed", "insights", "missions", "chat", "goals", "routines")),
    *(("workbench", {"view": view}) for view in ("waiting", "decided", "ai")),
)


@pytest.mark.parametrize(("page", "query"), PAGES)
def test_nothing_of_people_reaches_the_browser(
    worked: Core,
    open_page: Open,
    sent: list[bytes],  # noqa: F811
    page: str,
    query: dict[str, str],
) -> None:
    """With a dialog in hand, to somebody who may everything."""
    at = open_page(page, session=MINE, query=query)
    if page != "overview":  # through which every visit begins
        sent.clear()
        at.run()
    calm(at)
    found = leaked(sent)
    if page == "access":  # an example of an address stands in its form
        found.remove("example.org")
    assert found == []


@pytest.mark.parametrize("revealed", [False, True])
def test_labels_leave_as_they_are_shown(
    worked: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, revealed: bool
) -> None:
    """Queries and reasons masked, unless the page is revealed."""
    files: dict[str, Callable[[], bytes]] = {}
    button = st.download_button
    monkeypatch.setattr(
        st, "download_button", lambda *a, **named: (files.update({named["key"]: named["data"]}), button(*a, **named))[1]
    )
    made = worked.tuning.labels.sets()[0].id
    at = open_page("tuning", session={"desk.kept.tuning.set": made}, query={"view": "sets"})
    if revealed:
        reveal(at)
    text = files["export-jsonl"]().decode()
    assert "judgement" in text and QUERY.split()[-1] in text
    assert bool([word for word in PERSONAL if word in text]) is revealed


def test_a_preview_of_an_upload_is_masked(core: Core, open_page: Open, sent: list[bytes]) -> None:  # noqa: F811
    """Nothing is stored of the person yet: names come from the dialog that was handed in, files go by a number."""
    at = open_page("operations")
    sent.clear()
    data = json.dumps(dialog("Олена Ковальська", RU, TU, "Привіт, Олено! olena.k@example.org")).encode()
    at.file_uploader[0].set_value([("Олена Ковальська.json", data, "application/json")]).run()
    assert "file 1" in texts(calm(at)) + str([d.value.to_dict() for d in at.dataframe])
    assert leaked(sent) == []


def test_what_the_chat_shows_of_the_memory_is_masked(worked: Core, open_page: Open, sent: list[bytes]) -> None:  # noqa: F811
    """Chunks and ids that a tool gave; the question stays as it was asked."""
    question = f"search {KEY} for чай"
    turn = worked.companion.chat.ask(
        "5a0c5c6e-98f8-4f0a-9c1e-0f6f6ad1c002", "5a0c5c6e-98f8-4f0a-9c1e-0f6f6ad1c003", question
    )
    until = time.monotonic() + 30
    while not turn.ended and time.monotonic() < until:
        time.sleep(0.05)
    assert turn.ended
    calm(open_page("chat", session=MINE))
    assert leaked(sent) == []
