"""The Activity page: empty, full, broken; followed, turned, verified."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.events import run_as
from core.events.actor import ai, user
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]


def _types(at: AppTest) -> list[str]:
    return list(at.dataframe[0].value["type"])


def test_a_fresh_database(core: Core, open_page: Open) -> None:
    """Empty is not broken, and says what would be here."""
    said = texts(calm(open_page("activity")))
    assert "Nothing has happened yet" in said and "cannot be shown" not in said


def test_who_did_what_to_what(stored: Core, open_page: Open) -> None:
    """Newest first, the actor by name, the facts; a name that is hostile to Markdown stands as it is."""
    with run_as(user("local", ODD)):
        stored.events.emit("SnapshotsCompared", {"dialog_key": "k1", "date_a": "2026-11-29", "date_b": "2026-11-30"})
    assert stored.events.flush()
    at = calm(open_page("activity"))
    frame = at.dataframe[0].value
    assert _types(at)[:3] == ["Snapshots compared", "Dialog ingested", "Dialog ingested"]
    assert frame["actor"][0] == ODD and frame["target"][0] == "k1"
    assert "added" in frame["after"][1]


def test_a_ticked_row_stays_the_event_that_it_was(stored: Core, open_page: Open) -> None:
    """A newer event does not push another one under the tick."""
    assert stored.events.flush()
    at = calm(open_page("activity"))
    key = at.session_state["desk.kept.activity.held"][0]
    at.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    stored.events.emit("SnapshotsCompared", {"dialog_key": "k1", "date_a": "2026-11-29", "date_b": "2026-11-30"})
    assert stored.events.flush()
    from pages._shared.activity import reading

    reading.forget()
    said = texts(calm(at.run()))
    assert "Dialog ingested, row" in said and "stands still" in said
    assert "Snapshots compared" not in _types(at)


def test_kinds_are_told_apart(stored: Core, open_page: Open) -> None:
    """Changes, reads of personal text, one event type; an address of another version is no error."""
    from core.memory.requests import parse_search

    stored.search.search(parse_search({"ruId": "ru-1", "tuId": "tu-9", "query": "topic"}))
    assert stored.events.flush()
    at = open_page("activity")
    what = at.segmented_control(key="what")
    assert set(_types(calm(what.set_value("reads").run()))) == {"Search performed"}
    assert set(_types(calm(what.set_value("changes").run()))) == {"Dialog ingested"}
    what.set_value("all").run()
    assert set(_types(calm(at.selectbox(key="event").set_value("SearchPerformed").run()))) == {"Search performed"}
    at.selectbox(key="event").set_value("any").run()
    assert "No event matches" in texts(calm(at.selectbox(key="by").set_value("ai").run()))


def test_an_address_of_another_version_is_no_error(stored: Core, open_page: Open) -> None:
    """A kind of event or a part that there is not is left out."""
    assert stored.events.flush()
    at = open_page("activity", {"event": "NoSuchEvent", "part": "gone"})
    assert len(_types(calm(at))) == 2


def test_one_dialog_or_request_is_followed(stored: Core, open_page: Open) -> None:
    """By the whole key, from the field; never in the address."""
    for n, key in enumerate(("k1", "k2", "k1")):
        stored.events.emit("SearchPerformed", {"dialog_key": key, "request_id": f"r{n}", "results": n}, record_id=key)
    assert stored.events.flush()
    at = open_page("activity")
    at.text_input[0].set_value("k1").run()
    assert calm(at) and _types(at) == ["Search performed"] * 2
    at.text_input[0].set_value("r1").run()
    assert len(_types(calm(at))) == 1
    assert "k1" not in str(at.query_params) and "r1" not in str(at.query_params)
    at.button(key="follow-none").click().run()
    assert len(_types(calm(at))) == 5


def test_pages_are_turned_by_seq(core: Core, open_page: Open) -> None:
    """Fifty at a time; what comes in meanwhile shifts nothing."""
    for n in range(70):
        core.events.emit("SearchPerformed", {"results": n})
    assert core.events.flush()
    at = calm(open_page("activity"))
    assert at.dataframe[0].value["seq"][0] == 70
    core.events.emit("SearchPerformed", {"results": 70})
    assert core.events.flush()
    at.button(key="older").click().run()
    assert list(calm(at).dataframe[0].value["seq"]) == list(range(20, 0, -1))
    at.button(key="newest").click().run()
    assert len(calm(at).dataframe[0].value) == 50


def test_the_chain_verifies(stored: Core, open_page: Open) -> None:
    """And the look at it is itself an event."""
    at = open_page("activity")
    at.button(key="verify").click().run()
    assert "events stand as they were written" in texts(calm(at))
    until = time.monotonic() + 10
    while not (found := stored.events.store.query(type="ChainVerified").rows) and time.monotonic() < until:
        time.sleep(0.1)
    assert found and found[0].payload["ok"] is True


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("update companion_events set payload = '{\"added\": 9}' where seq = 1", "says something else than when"),
        ("delete from companion_events where seq = 1", "is missing"),
    ],
)
def test_a_touched_row_is_named(stored: Core, dsn: str, open_page: Open, damage: str, words: str) -> None:
    """Which row, what became of it."""
    assert stored.events.flush()
    with psycopg.connect(dsn) as connection:
        connection.execute(damage)
    at = open_page("activity")
    at.button(key="verify").click().run()
    said = texts(calm(at))
    assert "Row 1" in said and words in said


def test_a_database_that_is_gone(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Says so and offers a retry; comes back once the database does."""
    import streamlit as st

    at = open_page("activity")

    def gone(self: Database, *args: object, **kwargs: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Start it again.")

    with monkeypatch.context() as away:
        for name in ("rpc", "count", "auth_health"):
            away.setattr(Database, name, gone)
        st.cache_data.clear()
        at.run()
        said = texts(calm(at))
        assert "Can't reach the memory database." in said
        stays = at.dataframe
        assert (len(stays) and "stale" in "".join(str(m.value) for m in at.markdown)) or "Data from" in said
        at.text_input[0].set_value("never read before")
        st.cache_data.clear()
        at.run()
        assert "Activity cannot be shown" in texts(calm(at))
    st.cache_data.clear()
    at.text_input[0].set_value("").run()
    assert "cannot be shown" not in texts(calm(at)) and len(_types(at)) == 2


def test_the_files_hold_everything(stored: Core) -> None:
    """The whole payload, and each event once."""
    from pages._shared.activity.facts import FIELDS, row
    from pages._shared.export import to_json

    assert stored.events.flush()
    rows = [row(event) for event in stored.events.store.find().rows]
    loaded = json.loads(to_json(rows, FIELDS))
    assert [json.loads(r["payload"])["dialog_key"] for r in loaded] and loaded[0]["seq"] == 2


@pytest.mark.parametrize("role", ["viewer", "tuner", "operator", "owner"])
def test_who_may_not_read_it(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    """No event reaches them, neither here nor on Overview; what it takes is said."""
    assert stored.events.flush()
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", role)
    at = calm(open_page("activity"))
    assert "This page is for those who may see who did what: auditor or admin." in texts(at)
    assert not at.dataframe
    assert "Changes lately" not in texts(calm(open_page("overview")))


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_who_may_read_it(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    """Everybody's acts; of the own day that something was done, its words to its owner alone."""
    stored.events.emit("TaskCreated", {"task_id": "t-1", "title": "Dentist", "due_date": "2026-12-01"})
    assert stored.events.flush()
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", role)
    for page in ("activity", "overview"):
        at = calm(open_page(page))
        frames = str([d.value.to_dict() for d in at.dataframe])
        assert "Task created" in frames and ("Dentist" in frames) is (role == "admin")


def test_every_kind_of_act(stored: Core, open_page: Open) -> None:
    """Reveals, exports, sign-ins and what AIs did beside changes; their numbers, and for how long they are kept."""
    talk = ai("mcp:desk", "desk (MCP)", mission_id="mcp:1", iteration_id="c", rationale="asked", on_behalf_of="CI bot")
    with run_as(user("oidc:0123456789abcdef", "ann@example.org")):
        stored.events.emit("SignedIn", {"person": "p"})
        stored.events.emit("PersonalDataRevealed", {"page": "dialogs", "dialog_key": "k1", "reason": "ticket 4711"})
        stored.events.emit("DataExported", {"page": "usage", "what": "calls", "rows": 3, "revealed": False})
    stored.events.emit("CompanionToolCalled", {"tool": "memory_status", "success": True}, actor=talk)
    assert stored.events.flush()
    at = calm(open_page("activity"))
    said = texts(at)
    assert "changes 2 · reveals 1 · exports 1 · reads of personal text 0 · sign-in and access 1 · AI 1" in said
    assert "400 days, whatever their number" in said and "90 days, of these the newest 50,000" in said
    for what, type in (
        ("reveals", "Personal data revealed"),
        ("exports", "Data exported"),
        ("access", "Signed in"),
        ("ai", "Companion tool called"),
    ):
        assert _types(calm(at.segmented_control(key="what").set_value(what).run())) == [type], what
    assert at.dataframe[0].value["actor"][0] == "desk (MCP) for CI bot"
    assert at.query_params["what"] in ("ai", ["ai"])
    at.segmented_control(key="what").set_value("reveals").run()
    assert (at.dataframe[0].value["reason"][0], at.dataframe[0].value["actor"][0]) == ("ticket 4711", "ann@example.org")


def test_of_one_actor(stored: Core, open_page: Open) -> None:
    """By name from a list; who it is never stands in the address. A kind of actor narrows the list."""
    with run_as(user("oidc:0123456789abcdef", "ann@example.org")):
        stored.events.emit("SignedIn", {"person": "p"})
    with run_as(user("token:7", "CI bot")):
        stored.events.emit("SearchPerformed", {"results": 1})
    assert stored.events.flush()
    at = calm(open_page("activity"))
    assert _types(calm(at.selectbox(key="activity-who").set_value("oidc:0123456789abcdef").run())) == ["Signed in"]
    assert "oidc" not in str(at.query_params) and "ann" not in str(at.query_params)
    at.selectbox(key="by").set_value("api").run()
    assert at.selectbox(key="activity-who").value == "" and _types(calm(at)) == ["Search performed"]


def test_from_an_event_to_what_it_was_about(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the dialog, which is in hand there and not in the address; only for those who may go there."""
    assert stored.events.flush()
    event = stored.events.store.find().rows[0]
    at = open_page("activity")
    key = at.session_state["desk.kept.activity.held"][0]
    at.session_state[key] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at.run()
    button = next(b for b in at.button if b.label == "Open the dialog")
    monkeypatch.setattr("streamlit.switch_page", lambda *_, **__: None)  # one page is drawn at a time here
    button.click().run()
    assert at.session_state["desk.dialog"][0] == event.payload["dialog_key"]


def test_the_file_of_all_pages_is_recorded(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it holds, and that it was taken, once it is made."""
    import streamlit as st

    from pages._shared import resources

    for n in range(60):
        core.events.emit("SearchPerformed", {"results": n})
    assert core.events.flush()
    files: dict[str, Callable[[], bytes]] = {}
    button = st.download_button
    monkeypatch.setattr(
        st, "download_button", lambda *a, **named: (files.update({named["key"]: named["data"]}), button(*a, **named))[1]
    )
    monkeypatch.setattr("pages._shared.veil.lifted", lambda: None)
    calm(open_page("activity"))
    assert len(json.loads(files["activity-all-json"]())) == 60
    assert resources.core().events.flush()
    (row,) = core.events.store.find(type="DataExported").rows
    assert row.payload == {"page": "activity", "what": "activity-all", "rows": 60, "revealed": False}
    assert row.event_class == "audit"
