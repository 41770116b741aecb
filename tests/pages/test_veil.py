"""Masked by default, to everybody: what is personal does not reach the browser. A reveal: who, what, why, how long."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.clock import SystemClock
from core.errors import DatabaseUnavailable
from core.events.store import EventStore
from core.memory.requests import AcrossRequest, SearchRequest
from pages._shared import resources
from pages._shared.session import DIALOG
from tests.pages.conftest import ROOT, calm, texts
from tests.support.people import DAYS, KEY, OTHER, OTHER_RU, OTHER_TU, PERSONAL, QUERY, RU, TU, remember

pytestmark = pytest.mark.masked
Open = Callable[..., AppTest]
MINE = {DIALOG: (KEY, RU, TU)}
ROLES = ("viewer", "auditor", "tuner", "operator", "admin", "owner")
WHY = "ticket 4711, complaint of Олена"


@pytest.fixture
def people(core: Core, dsn: str) -> Core:
    remember(core, dsn)
    return core


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All messages for the browser, as bytes."""
    messages: list[bytes] = []
    enqueue = ForwardMsgQueue.enqueue

    def spied(self: ForwardMsgQueue, msg: Any) -> None:
        messages.append(msg.SerializeToString())
        enqueue(self, msg)

    monkeypatch.setattr(ForwardMsgQueue, "enqueue", spied)
    return messages


def leaked(sent: list[bytes], but: str = "") -> list[str]:
    """What of the people is in the traffic; `but` is what somebody typed."""
    everything = b"\n".join(sent).replace(but.encode(), b"") if but else b"\n".join(sent)
    return [word for word in PERSONAL if word.encode() in everything]


def searched(at: AppTest, query: str = QUERY) -> AppTest:
    at.text_input(key="query").input(query)
    return next(b for b in at.button if b.label == "Search").click().run()


def pressed(at: AppTest, label: str) -> AppTest:
    return calm(next(b for b in at.button if b.label == label).click().run())


def reveal(at: AppTest, why: str = WHY) -> AppTest:
    """Press Reveal, write why, and say yes."""
    at.button(key="reveal-personal").click().run()
    at.text_input(key="reveal-reason").input(why)
    return next(b for b in at.button if b.label == "Reveal and record").click().run()


def recorded(core: Core, type: str) -> list[dict[str, Any]]:
    assert resources.core().events.flush()  # of the application: it has a core of its own
    return [dict(row.payload) for row in core.events.store.query(limit=100).rows if row.type == type]


def badges(at: AppTest) -> str:
    return "\n".join(m.value for m in at.markdown if "-badge[" in m.value)


@pytest.mark.parametrize("role", ROLES)
def test_masked_to_every_role(
    people: Core, open_page: Open, sent: list[bytes], monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """Also to the local admin: texts, ids and grids of a dialog reach no browser, and who may lift that is said."""
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", role)
    at = calm(open_page("dialogs", session=MINE))
    assert "[name]" in texts(at) + str([list(d.value.get("text", ())) for d in at.dataframe])
    assert leaked(sent) == []
    assert "Masked" in badges(at)
    assert any(b.key == "reveal-personal" for b in at.button) == (role in ("auditor", "admin"))


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("dialogs", {}),
        ("prompts", {}),
        ("snapshots", {}),
        ("snapshots", {"view": "day", "day": DAYS[1]}),
        ("snapshots", {"view": "compare", "from": DAYS[0], "to": DAYS[1]}),
        ("snapshots", {"view": "expiry", "state": "expired"}),
    ],
)
@pytest.mark.parametrize("dialog", [{}, MINE])
def test_lists_are_masked(
    people: Core, open_page: Open, sent: list[bytes], page: str, query: dict[str, str], dialog: dict[str, Any]
) -> None:
    """With and without a dialog in hand, also in choices, tooltips and what a table holds beside what it shows."""
    people.search.search(SearchRequest(KEY, QUERY))
    people.search.across(AcrossRequest("чай +380 67 123 45 67"))
    calm(open_page(page, session=dialog, query=query))
    assert leaked(sent) == []


def test_a_search_is_masked(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """Results, near misses, why not, first changes, words alone, prompt block; the query stands as it was typed."""
    at = calm(searched(open_page("search", session=MINE)))
    assert at.text_input(key="query").value == QUERY
    assert leaked(sent, QUERY) == []
    block = next(c.value for c in at.code if "[name]" in c.value)
    assert "[e-mail]" in block and "[link]" in block


def test_a_search_over_all_dialogs_is_masked(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """Each hit by the people of its own dialog."""
    at = open_page("search", session=MINE, query={"scope": "all"})
    calm(searched(at))
    assert leaked(sent, QUERY) == []


def test_a_record_and_its_replay_are_masked(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """The query of somebody else, what came back, the block; the replay asks what was asked, not its masked form."""
    people.search.search(SearchRequest(KEY, QUERY))
    record = people.retrievals.store.list().rows[0]
    at = calm(open_page("prompts", query={"record": record.id}))
    assert "чи пише [name] про чай" in [text.value for text in at.text]
    assert leaked(sent) == []
    assert "Nothing is different: the same chunks at the same places." in texts(at)


def test_what_no_search_returned_is_masked(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """Its rows are no records, and are masked all the same."""
    people.search.search(SearchRequest(KEY, QUERY, limit=1))
    calm(open_page("prompts", session={**MINE, "desk.kept.prompts-only": True}))
    assert leaked(sent) == []


def test_the_history_of_an_entity_is_masked(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """A name that became another one is a change of which neither side is shown."""
    entity = (KEY, "profile", "ru", "ru")
    at = calm(open_page("snapshots", session={"desk.kept.snapshot-entity": entity}, query={"view": "history"}))
    changes = next(d.value for d in at.dataframe if "before" in d.value)
    assert set(changes["place"]) == {"about", "name"}
    assert set(changes["before"]) == set(changes["after"]) == {'"[name] і чай"', '"[name]"'}
    assert leaked(sent) == []


def test_a_name_is_found_and_not_shown(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """Who looks for a name that is masked learns in which chunks it stands, and that it is masked there."""
    at = open_page("dialogs", session=MINE)
    at.text_input(key="chunk-text").input("Оленою").run()
    rows = next(d.value for d in calm(at).dataframe if "text" in d.value and "flags" in d.value)
    assert len(rows) == 1 and "found in a masked part" in rows["flags"].iloc[0]
    assert leaked(sent, "Оленою") == []


def test_an_id_finds_its_dialog(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """Typed as it is known; the list shows the name that stands for it."""
    at = open_page("dialogs")
    at.text_input(key="find").input(RU).run()
    rows = next(d.value for d in calm(at).dataframe if "ru_id" in d.value)
    assert list(rows["ru_id"]) == [people.veil.people.alias("RU", RU)]
    assert leaked(sent, RU) == []


def test_a_reveal_shows_this_dialog_and_is_recorded(people: Core, open_page: Open) -> None:
    """Who, which view and why, the reason itself masked; the line of the page then says until when."""
    at = reveal(open_page("dialogs", session=MINE))
    chunks = next(d.value for d in calm(at).dataframe if "text" in d.value)
    assert any("Оленою Ковальською" in text for text in chunks["text"])
    assert "Revealed until" in badges(at) and "recorded" in badges(at)
    assert recorded(people, "PersonalDataRevealed") == [
        {"page": "dialogs", "dialog_key": KEY, "reason": "ticket 4711, complaint of [name]"}
    ]
    row = next(r for r in people.events.store.query(limit=100).rows if r.type == "PersonalDataRevealed")
    assert row.actor.principal_id == "local"
    assert "Masked" in badges(pressed(at, "Hide"))


@pytest.mark.parametrize("why", ["", "  ", "no", "\u200b\u200b\u200b\u200b"])
def test_without_a_reason_nothing_is_revealed(people: Core, open_page: Open, sent: list[bytes], why: str) -> None:
    """Three characters that can be read are the least."""
    at = reveal(open_page("dialogs", session=MINE), why)
    assert "A reason has 3 to 200 characters." in texts(at)
    assert leaked(sent) == [] and recorded(people, "PersonalDataRevealed") == []


def test_what_cannot_be_recorded_is_not_revealed(
    people: Core, open_page: Open, sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database refuses the event: the veil stays down, and that is said."""
    at = open_page("dialogs", session=MINE)

    def away(self: EventStore, rows: Any) -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(EventStore, "append", away)
    at = reveal(at)
    assert "The database does not answer." in texts(at)
    assert leaked(sent) == []


def test_a_reveal_ends_with_the_dialog(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """Another dialog is masked, and so is the first one when somebody comes back to it."""
    at = reveal(open_page("dialogs", session=MINE))
    sent.clear()
    at.session_state[DIALOG] = (OTHER, OTHER_RU, OTHER_TU)
    assert "Masked" in badges(calm(at.run())) and leaked(sent) == []
    at.session_state[DIALOG] = MINE[DIALOG]
    assert "Masked" in badges(calm(at.run())) and leaked(sent) == []


def test_a_reveal_ends_with_the_page(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """The same dialog on another page, and back."""
    at = reveal(open_page("dialogs", session=MINE))
    sent.clear()
    for page in ("snapshots", "dialogs"):
        at.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
        assert "Masked" in badges(calm(at)) and leaked(sent) == []


def test_a_reveal_ends_after_fifteen_minutes(
    people: Core, open_page: Open, sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock of the server, at the next run."""
    at = reveal(open_page("dialogs", session=MINE))
    sent.clear()
    later = SystemClock().now() + timedelta(minutes=15)
    monkeypatch.setattr(SystemClock, "now", lambda self: later)
    assert "Masked" in badges(calm(at.run())) and leaked(sent) == []


def test_a_reveal_ends_with_the_role(
    people: Core, open_page: Open, sent: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may no longer reveal sees nothing more at the next run."""
    at = reveal(open_page("dialogs", session=MINE))
    sent.clear()
    monkeypatch.setattr("core.services.veil.may", lambda action: False)
    assert "Masked" in badges(calm(at.run())) and leaked(sent) == []


def test_a_reveal_of_one_dialog_shows_no_other(people: Core, open_page: Open, sent: list[bytes]) -> None:
    """The results of a dialog chosen before stay masked when another one is revealed; so do the ids of the others."""
    at = searched(open_page("search", session=MINE))
    sent.clear()
    at.session_state[DIALOG] = (OTHER, OTHER_RU, OTHER_TU)
    calm(reveal(at.run()))
    assert set(leaked(sent, QUERY)) <= {OTHER_RU, OTHER_TU}
    assert OTHER_RU in leaked(sent, QUERY)


def test_a_file_holds_what_the_view_shows_and_is_recorded(
    people: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Masked, then revealed: the bytes that a click fetches, and an event of each with its rows."""
    files: dict[str, Callable[[], bytes]] = {}
    button = st.download_button

    def spied(*arguments: Any, **named: Any) -> bool:
        files[named["key"]] = named["data"]
        return button(*arguments, **named)

    monkeypatch.setattr(st, "download_button", spied)
    at = open_page("dialogs", session=MINE)
    masked = files["chunks-file-csv"]().decode()
    assert "[name]" in masked and not any(word in masked for word in PERSONAL)
    reveal(at)
    whole = files["chunks-file-csv"]().decode()
    assert "Оленою Ковальською" in whole
    facts = {"page": "dialogs", "what": "chunks", "rows": masked.count("\r\n") - 1, "dialog_key": KEY}
    assert recorded(people, "DataExported") == [{**facts, "revealed": True}, {**facts, "revealed": False}]


def test_a_look_into_a_dialog_is_noted_once(people: Core, open_page: Open) -> None:
    """By its key, at the first run and not at each."""
    at = open_page("dialogs", session=MINE)
    calm(at.run())
    assert recorded(people, "DialogOpened") == [{"dialog_key": KEY}]
