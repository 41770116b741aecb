"""Tuning: profiles and what-if, from the question to the answer; empty and broken too."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import psycopg
import pytest
import streamlit as st
from psycopg.types.json import Jsonb
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.memory.keys import both_keys
from core.memory.requests import SearchRequest
from core.memory.retrieval import Profile
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]
TIPS, _ = both_keys("ru-1", "tu-9")
SET = "00000000-0000-4000-8000-00000000000a"


@pytest.fixture
def labelled(stored: Core, dsn: str) -> Core:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("insert into desk_query_sets (id, name) values (%s, 'Golden queries')", (SET,))
    return stored


def evaluate(dsn: str, version: int, verdict: str = "ship") -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "insert into desk_evaluations (id, query_set, query_set_version, baseline_version, profile_version, result,"
            " verdict, rule, queries, coverage) values (%s, %s, 1, 1, %s, '{}', %s, 'because', 60, 1)",
            (str(uuid.uuid4()), SET, version, verdict),
        )


def opened(open_page: Open, view: str = "profiles") -> AppTest:
    return calm(open_page("tuning", query={"view": view}))


def versions(at: AppTest):  # type: ignore[no-untyped-def]
    return next(d.value for d in at.dataframe if "boosts" in d.value)


def test_the_seed_is_in_force(stored: Core, open_page: Open) -> None:
    """Version 1, what the existing service would have to pass, and no way back."""
    at = opened(open_page)
    assert list(versions(at)["state"]) == ["active"]
    assert '"note": 0.18' in next(c.value for c in at.code if "match_client_memory_chunks" in c.value)
    assert "the existing service returns the same rows" in texts(at)
    assert not [b for b in at.button if b.key == "revert"]


def test_from_proposal_to_force_and_back(labelled: Core, open_page: Open, dsn: str) -> None:
    """Propose in the form, evaluate, approve, activate; searches follow; one click back."""
    at = opened(open_page)
    next(t for t in at.text_input if t.label == "Name").set_value("words")
    next(n for n in at.number_input if n.label == "Words (BM25)").set_value(0.35)
    calm(next(b for b in at.button if b.label == "Propose").click().run())
    assert "Version 2 is proposed" in texts(at)
    stored = labelled.profiles.all().of(2)
    assert (stored.profile.fusion, stored.query_set, stored.profile.name) == (0.35, SET, "words")

    evaluate(dsn, 2)
    labelled.loop.approve(2, labelled.tuning.evaluations.page(profile_version=2).rows[0].id)
    labelled.loop.activate(2)
    assert labelled.search.search(SearchRequest(TIPS, "trust")).weights_version == 2
    st.cache_data.clear()  # what was done beside the page, it would see a few seconds later
    at = opened(open_page)
    assert at.metric[0].value == "version 2" and "the words the existing service" in texts(at)
    calm(at.button(key="revert").click().run())
    assert "Version 1 is in force again" in texts(at)
    assert labelled.profiles.all().active == 1


def test_an_empty_name_is_refused_in_words(labelled: Core, open_page: Open) -> None:
    """Nothing is proposed, and the page says why."""
    at = opened(open_page)
    calm(next(b for b in at.button if b.label == "Propose").click().run())
    assert "name is missing" in texts(at) and len(labelled.profiles.all().profiles) == 1


def test_a_proposal_from_search_fills_the_form(labelled: Core, open_page: Open) -> None:
    """What the sliders were is where the form starts."""
    start = Profile("from Search", None, {"note": 0.4}, "sd", 0.5, 8, 1700, {"summary": 0})
    at = calm(open_page("tuning", query={"view": "profiles"}, session={"desk.kept.proposal": start}))
    numbers = {n.label: n.value for n in at.number_input}
    assert (numbers["note"], numbers["Words (BM25)"], numbers["Limit"]) == (0.4, 0.5, 8)
    assert numbers["Character budget"] == 1700
    assert numbers["summary, at most"] == 0


def test_what_if_over_recorded_searches(stored: Core, open_page: Open) -> None:
    """Loaded on demand; then every slider says how many prompts change, and from which step on."""
    for query in ("trust", "sea", "photo"):
        stored.search.search(SearchRequest(TIPS, query))
    at = opened(open_page, "whatif")
    assert not at.slider
    calm(at.button(key="load-recent").click().run())
    assert "3 of 3 recorded searches" in texts(at) and "not as recorded" in texts(at)
    flips = next(d.value for d in at.dataframe if "small" in d.value)
    assert all("of 3 prompts" in line for line in flips["small"])
    at.slider(key="whatif_conversation_raw").set_value(0.5)
    at.slider(key="whatif_note_raw").set_value(-0.3).run()
    assert "3 of 3" in [m.value for m in calm(at).metric]


def test_what_if_without_a_record(core: Core, open_page: Open) -> None:
    """Nothing recorded: the next step, no failure."""
    at = opened(open_page, "whatif")
    calm(at.button(key="load-recent").click().run())
    assert "No recorded search can be compared" in texts(at)


def test_a_database_that_is_away(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken state, and no traceback."""

    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(Database, "rpc", away)
    assert "Can't reach the memory database" in texts(open_page("tuning", query={"view": "profiles"}))


def select_version(at: AppTest, monkeypatch: pytest.MonkeyPatch, version: int) -> AppTest:
    """A click on the row of a version: AppTest cannot click into a table."""
    from pages._shared import tables

    real = tables.show

    def clicked(rows, columns, **given):  # type: ignore[no-untyped-def]
        shown = real(rows, columns, **given)
        wanted = [n for n, row in enumerate(rows) if row.get("version") == version]
        return wanted[0] if given.get("key", "").startswith("profiles-") else shown

    monkeypatch.setattr(tables, "show", clicked)
    return calm(at.run())


def test_approve_activate_and_go_back_by_their_buttons(
    labelled: Core, open_page: Open, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each button acts once, says what it did, and the next step appears; the reason of going back is kept."""
    version = labelled.loop.propose(Profile("w :material/home: *x* $y$", fusion=0.35), query_set=SET)
    evaluate(dsn, version, "no evidence")
    at = select_version(opened(open_page), monkeypatch, version)
    assert "does not speak for it" in texts(at)
    at.text_input(key="approve-note").set_value("people like it")
    calm(at.button(key="approve").click().run())
    assert "is approved. It is recorded as self-approved" in texts(at) and labelled.profiles.all().active == 1
    stored = labelled.profiles.all().of(version)
    assert stored.verdict == "no evidence" and stored.self_approved
    with psycopg.connect(dsn) as connection:
        assert connection.execute("select note from desk_profile_approvals").fetchone() == ("people like it",)

    calm(at.button(key="activate").click().run())
    assert f"Version {version} is in force from now on, in place of version 1" in texts(at)
    assert at.metric[0].delta == "`w :\u2060material/home: *x* $y$`", "a name is shown as it was written"
    labelled.profiles.forget()  # another process follows within seconds
    assert labelled.search.search(SearchRequest(TIPS, "trust")).weights_version == version
    assert not [b for b in at.button if b.key in ("approve", "activate")]

    at.text_input(key="revert-reason").set_value("worse *x*")
    calm(at.button(key="revert").click().run())
    assert "Version 1 is in force again" in texts(at)
    assert labelled.profiles.all().activations[0].reason == "worse *x*"
    assert f"beside version {version} before it" in texts(at)
    labelled.profiles.forget()
    assert labelled.search.search(SearchRequest(TIPS, "trust")).weights_version == 1


def test_where_the_numbers_come_from_is_said(
    labelled: Core, open_page: Open, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that a search found names the set and the held-out figure, and which evaluation counts for it."""
    found = Profile("found", weights={"note": 0.07})
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "insert into desk_fits (id, query_set, query_set_version, body, ranking_key, seen, metric, train, held_out,"
            " train_queries, held_out_queries) values (gen_random_uuid(), %s, 1, %s, desk_ranking_key(%s),"
            " array[gen_random_uuid()], 'recall:12', null, %s, 12, 11)",
            (SET, *[Jsonb(found.as_json())] * 2, Jsonb({"mean": 0.05, "low": -0.01, "high": 0.1})),
        )
    version = labelled.loop.propose(found, query_set=SET)
    evaluate(dsn, version)
    at = select_version(opened(open_page), monkeypatch, version)
    assert "recall@12 +5.0 points (-1.0 to +10.0) on 11 queries of dialogs kept out" in texts(at)
    assert "only where it leaves out what the search saw" in texts(at)
    calm(at.button(key="approve").click().run())
    assert "found with" in texts(at) and not labelled.profiles.all().of(version).approved_at


def test_a_what_if_stands_in_the_address_and_goes_to_profiles(stored: Core, open_page: Open) -> None:
    """Sliders are in the address, figures alone; a proposal leads to the form, which starts from them."""
    stored.search.search(SearchRequest(TIPS, "trust"))
    at = calm(open_page("tuning", query={"view": "whatif", "whatif_note_raw": "0.3", "whatif_fusion": "0.5"}))
    calm(at.button(key="load-recent").click().run())
    assert (at.slider(key="whatif_note_raw").value, at.slider(key="whatif_fusion").value) == (0.3, 0.5)
    calm(at.button(key="whatif-propose").click().run())
    numbers = {n.label: n.value for n in at.number_input}
    assert (numbers["note"], numbers["Words (BM25)"]) == (0.3, 0.5)
