"""The Overview page: empty, full, broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.events.store import EventStore
from core.memory.dialogs import DialogReads
from core.memory.keys import both_keys
from core.memory.requests import SearchRequest
from core.services.demo import DemoService, DemoState
from core.services.demo_content import demo_dialogs
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]


def test_empty_says_why_and_what_to_do(core: Core, open_page: Open) -> None:
    """Without a dialog the page names the next step as a command."""
    at = calm(open_page("overview"))
    assert "No dialog is stored yet" in texts(at)
    assert "python -m core ingest" in texts(at)
    assert "cannot be shown" not in texts(at)


def test_full_shows_totals_and_the_ambiguous_pair(stored: Core, open_page: Open) -> None:
    """Totals are those of the database; the pair under two keys is listed with both."""
    at = calm(open_page("overview"))
    figures = {m.label: m.value for m in at.metric}
    overview = stored.dialogs.overview()
    assert figures["Chunks"] == f"{overview.chunks:,}" and overview.chunks > 40
    assert figures["Dialogs"] == "2"
    assert figures["Pairs under two keys"] == "1"
    assert figures["Not searchable"] == "0"
    pairs = next(d.value for d in at.dataframe if "ru_id" in d.value)
    assert list(pairs["order"]) in (["tips", "generic"], ["generic", "tips"])


def test_ingests_are_listed_as_changes_without_any_text(stored: Core, open_page: Open) -> None:
    """What happened, by whom; never what somebody wrote."""
    assert stored.events.flush()
    at = calm(open_page("overview"))
    changes = next(d.value for d in at.dataframe if "actor" in d.value)
    assert "Dialog ingested" in set(changes["type"])
    assert "trust" not in changes.to_csv()


def test_broken_says_what_failed_and_since_when(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The head stands, the failure is in words, and the page is no empty page."""

    def refuse(self: DialogReads) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Open Health.")

    monkeypatch.setattr(DialogReads, "overview", refuse)
    at = calm(open_page("overview"))
    said = texts(at)
    assert [h.value for h in at.header] == ["Overview"]
    assert "Overview cannot be shown" in said and "Can't reach the memory database." in said
    assert "Failing since" in said
    assert "No dialog is stored yet" not in said
    assert at.button(key="retry-Overview")


def test_stale_figures_stay_and_say_their_age(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the database goes away after a good read, the page shows that read and says how old it is."""
    import streamlit as st

    at = calm(open_page("overview"))
    before = {m.label: m.value for m in at.metric}

    def refuse(self: DialogReads) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(DialogReads, "overview", refuse)
    st.cache_data.clear()
    at.run()
    said = texts(calm(at))
    assert "Data from" in said and "Can't reach the memory database." in said
    assert {m.label: m.value for m in at.metric}["Chunks"] == before["Chunks"]


def test_it_recovers_by_itself(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure is never kept: the next run after the cause is gone shows the figures."""
    with monkeypatch.context() as broken:
        broken.setattr(DialogReads, "overview", _unavailable)
        at = open_page("overview")
        assert "cannot be shown" in texts(at)
    at.run()
    assert "cannot be shown" not in texts(calm(at))


def _unavailable(self: DialogReads) -> None:
    raise DatabaseUnavailable("Can't reach the memory database.")


def test_today_stands_beside_yesterday(stored: Core, open_page: Open) -> None:
    """Tokens and cost with their change, searches and ingests with yesterday's number, expiry and syncs."""
    stored.events.flush()
    for hours, tokens in ((0, 3_000), (24, 2_000)):
        at = (stored.clock.now() - timedelta(hours=hours)).isoformat()
        entry = {"provider": "xai", "model": "nobody's", "phase": "embed", "promptTokens": tokens, "at": at}
        stored.usage.record({"requestId": str(UUID(int=tokens)), "entries": [entry]})
    at = calm(open_page("overview"))
    figures = {m.label: (m.value, m.delta) for m in at.metric}
    assert figures["Tokens today"] == ("3,000", "+50 % on yesterday")
    assert figures["Cost today (USD)"] == ("no price", "none yesterday")
    assert figures["Searches today"] == ("0", "0 yesterday")
    assert figures["Ingests today"] == ("2", "0 yesterday")
    assert figures["Expired snapshots"][0] == "0"
    assert figures["Synced today"] == ("–", "– yesterday")
    assert "as of" in texts(at)


def test_today_broken_leaves_the_rest(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where these figures cannot be had the totals of the memory still stand."""

    def refuse(self: EventStore, *window: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(EventStore, "count_by_type", refuse)
    at = calm(open_page("overview"))
    assert "Today beside yesterday cannot be shown" in texts(at)
    assert "Chunks" in {m.label for m in at.metric}


def test_removing_the_demo_counts_every_table_first(
    core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dialog says how many rows of each kind go before they go; nothing of them is left."""
    few = demo_dialogs(core.clock.now())[:2]
    monkeypatch.setattr("core.services.demo.demo_dialogs", lambda now: few)
    DemoService(core.db, core.events, core.clock, enabled=True).load()
    rows = core.demo.rows()
    assert rows.snapshots > 100 and rows.usage > 100
    at = calm(open_page("overview"))
    at.button(key="demo-ask").click().run()
    assert f"{rows.snapshots:,} snapshots, {rows.usage:,} rows of usage and 5 prices" in texts(calm(at))
    at.button(key="demo-remove").click().run()
    assert f"{rows.total:,} demo rows removed" in texts(calm(at))
    assert core.demo.rows().total == 0


def test_a_removal_that_another_tab_did_says_so(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The confirmation of a second tab removes nothing, and does not call that a removal."""
    few = demo_dialogs(core.clock.now())[:2]
    monkeypatch.setattr("core.services.demo.demo_dialogs", lambda now: few)
    DemoService(core.db, core.events, core.clock, enabled=True).load()
    at = calm(open_page("overview"))
    at.button(key="demo-ask").click().run()
    core.demo.remove()
    at.button(key="demo-remove").click().run()
    said = texts(calm(at))
    assert "gone already" in said and "rows removed" not in said


def test_while_the_demo_data_arrives_figures_are_said_to_be_partial(
    stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody takes half of the demo for all of it."""
    monkeypatch.setattr(DemoService, "state", lambda self: DemoState("loading", 3, 40))
    overview = DialogReads.overview
    monkeypatch.setattr(
        DialogReads, "overview", lambda self: replace(overview(self), demo={"state": "loading", "chunks": 20})
    )
    at = calm(open_page("overview"))
    assert any("not complete yet" in p.proto.text for p in at.get("progress"))


def test_searches_do_not_crowd_out_the_changes(stored: Core, open_page: Open) -> None:
    """Looking changes nothing; it stands on Activity."""
    for _ in range(13):
        stored.search.search(SearchRequest(dialog_key=both_keys("ru-1", "tu-9")[0], query="trust"))
    stored.events.flush()
    at = calm(open_page("overview"))
    shown = next(d.value for d in at.dataframe if "facts" in d.value)
    assert set(shown["type"]) == {"Dialog ingested"}
