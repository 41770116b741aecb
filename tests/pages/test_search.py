"""The Search page: asking, the what-if, the empty and the broken state."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.db.client import Database
from core.errors import DatabaseUnavailable, ProviderMissing
from core.memory.keys import both_keys
from core.memory.prompt import prompt_block
from core.memory.requests import SearchRequest
from core.services.search import SearchService
from pages._shared.search.whynot import gap
from tests.pages.conftest import ODD, calm, texts
from tests.support.dialogs import body

Open = Callable[..., AppTest]
TIPS, GENERIC = both_keys("ru-1", "tu-9")
SESSION = {"desk.dialog": (TIPS, "ru-1", "tu-9")}
QUERY = "does he worry about trust?"


def asked(at: AppTest, query: str = QUERY) -> AppTest:
    at.text_input(key="query").set_value(query)
    press = next(b for b in at.button if b.label == "Search")
    return calm(press.click().run())


def places(at: AppTest):  # type: ignore[no-untyped-def]
    return next(d.value for d in at.dataframe if "margin" in d.value)


def block(at: AppTest) -> str:
    return next(c.value for c in at.code if c.value.startswith("Selected vector memory chunks:"))


def test_before_the_first_search(stored: Core, open_page: Open) -> None:
    """The page says what to do, and searches nothing by itself."""
    assert "Nothing has been searched yet" in texts(calm(open_page("search", session=SESSION)))


def test_an_empty_memory_and_an_empty_query(core: Core, open_page: Open) -> None:
    """Without dialogs there is no error; without a query neither."""
    at = calm(open_page("search"))
    assert "No dialog is stored yet" in texts(at)


def test_the_ranking_is_that_of_the_service(stored: Core, open_page: Open) -> None:
    """Twelve chunks and near misses, parts that sum to the score, and the prompt block of the API to the character."""
    at = asked(open_page("search", session=SESSION))
    table = places(at)
    result = stored.search.search(SearchRequest(dialog_key=TIPS, query=QUERY))
    assert list(table["text"][:12]) == [hit.text for hit in result.hits]
    assert len(table) == 24
    assert ((table["cosine"] + table["boost"] - table["score"]).abs() < 1e-9).all()
    assert (table["margin"][:12] >= 0).all() and (table["margin"][12:] <= 0).all()
    assert block(at) == prompt_block(result.hits)


def test_a_slider_asks_the_database_nothing(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moving a boost changes the ranking; not one request is made, and no event is written."""
    at = asked(open_page("search", session=SESSION))
    before = list(places(at)["source"])
    at.run()  # AppTest runs the frame too, whose reads live ten seconds; in a browser a slider runs its fragment alone
    asked_for: list[str] = []
    for name in ("rpc", "count", "sample", "select", "auth_health"):
        if hasattr(Database, name):
            monkeypatch.setattr(Database, name, _spy(getattr(Database, name), name, asked_for))
    at.slider(key="boost_note").set_value(-0.3)
    at.slider(key="boost_conversation").set_value(0.5).run()
    after = places(calm(at))
    assert asked_for == []
    assert list(after["source"]) != before
    assert set(after["source"][:12]) == {"conversation"}
    assert "take every place" in texts(at), "one source that fills the prompt is warned of"
    assert any(str(m).startswith("in ") for m in after["move"])
    assert any(str(m).startswith("out ") for m in after["move"]) or len(after) == 24


def _spy(call, name, calls):  # type: ignore[no-untyped-def]
    def spied(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        if "script" in threading.current_thread().name.lower():  # not the threads that drain events or watch health
            calls.append(name)
        return call(self, *args, **kwargs)

    return spied


def test_reset_brings_the_active_weights_back(stored: Core, open_page: Open) -> None:
    """One click, and every slider stands at the active weight again."""
    at = asked(open_page("search", session=SESSION))
    before = block(at)
    at.slider(key="boost_note").set_value(-0.2).run()
    at.button(key="reset-boosts").click().run()
    assert at.slider(key="boost_note").value == pytest.approx(0.18)
    assert block(calm(at)) == before


def test_first_changes_name_who_enters_and_who_leaves(stored: Core, open_page: Open) -> None:
    """Each source has its boost in standard deviations and its nearest flips, signed by direction."""
    at = asked(open_page("search", session=SESSION))
    table = next(d.value for d in at.dataframe if "sd" in d.value)
    up, down = table[table["side"] == "up"], table[table["side"] == "down"]
    assert len(up) and (up["by"] >= 0).all() and (down["by"] <= 0).all()
    assert table[table["source"] == "note"]["sd"].iloc[0] > 0


def test_why_not_for_a_chunk_below_the_line_and_by_id(stored: Core, open_page: Open) -> None:
    """A near miss says what it lacks, an id of another dialog that it is elsewhere, nonsense that there is none."""
    at = asked(open_page("search", session=SESSION))
    missed = next(s for s in at.selectbox if s.label == "Chunk")
    missed.select_index(0).run()
    assert "lacks" in texts(calm(at))
    other = stored.dialogs.chunks(GENERIC, limit=1).rows[0]
    at.text_input(key="why-id").set_value(other.id).run()
    assert "belongs to another dialog" in texts(calm(at))
    at.text_input(key="why-id").set_value("nonsense").run()
    assert "No chunk has this id" in texts(calm(at))


def test_words_beside_meaning_are_marked(stored: Core, open_page: Open) -> None:
    """The lexical result stands beside the other and is said not to be semantic."""
    at = asked(open_page("search", session=SESSION), ODD)
    assert "not semantic" in texts(at)
    lexical = next(d.value for d in at.dataframe if "vector" in d.value)
    assert ODD in list(lexical["text"])
    assert ODD in list(places(at)["text"]), "the odd text is in the grid as it is"
    assert ODD in block(at)


def test_all_dialogs(stored: Core, open_page: Open) -> None:
    """Over all dialogs every row names its own."""
    at = open_page("search", session=SESSION)
    at.segmented_control(key="scope").set_value("all").run()
    asked(at)
    table = next(d.value for d in at.dataframe if "pair" in d.value)
    assert len(table) == 12 and set(table["pair"]) == {"RU ru-1 · TU tu-9"}


def test_without_an_embedder_it_says_so_and_offers_words(
    stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing embedder is a broken search with the variable's name, no empty result."""

    def missing(self: SearchService, request: object) -> None:
        raise ProviderMissing("No embedder is configured.", hint="Set BESCO_GEMINI_API_KEY.")

    monkeypatch.setattr(SearchService, "explore", missing)
    said = texts(asked(open_page("search", session=SESSION)))
    assert "This search cannot be shown" in said and "BESCO_GEMINI_API_KEY" in said


def test_query_and_ids_stay_out_of_the_address(stored: Core, open_page: Open) -> None:
    """Only limit, mode, scope and boosts are bound to the address."""
    at = asked(open_page("search", session=SESSION))
    address = json.dumps(dict(at.query_params))
    assert QUERY not in address and TIPS not in address and "ru-1" not in address


def test_the_scope_is_a_code_in_the_address(stored: Core, open_page: Open) -> None:
    """scope=all opens the search over all dialogs."""
    at = calm(open_page("search", session=SESSION, query={"scope": "all"}))
    assert at.segmented_control(key="scope").value == "all"
    assert not [t for t in at.text_input if t.label == "Find a dialog"]
    at.segmented_control(key="scope").set_value("one").run()
    assert "scope" not in calm(at).query_params


def test_a_find_term_changes_the_dialog(stored: Core, open_page: Open) -> None:
    """The dialog in hand gives way to the one that is found."""
    stored.ingest.ingest(body(None, messages=2, ruId="ru-77", tuId="tu-9"))
    at = calm(open_page("search", session=SESSION))
    picker = next(s for s in at.selectbox if s.label.startswith("Dialog ("))
    assert picker.value == TIPS
    at.text_input(key="find-dialog").set_value("ru-77").run()
    picker = next(s for s in calm(at).selectbox if s.label.startswith("Dialog ("))
    assert picker.value == both_keys("ru-77", "tu-9")[0]
    assert at.session_state["desk.dialog"][1] == "ru-77"


def test_the_chunk_that_is_explained_stays_while_sliders_move(stored: Core, open_page: Open) -> None:
    """Places and scores in the options change with a slider; the choice does not."""
    at = asked(open_page("search", session=SESSION))
    chunk = next(s for s in at.selectbox if s.label == "Chunk")
    assert chunk.value is not None, "the first near miss is explained without a click"
    chunk.select_index(4).run()
    mine = next(s for s in calm(at).selectbox if s.label == "Chunk").value
    at.slider(key="boost_conversation").set_value(0.3).run()
    assert next(s for s in calm(at).selectbox if s.label == "Chunk").value == mine


def test_limits_of_one_and_of_all(stored: Core, open_page: Open) -> None:
    """One place is spoken of as one; a column without a word in it is not drawn."""
    at = open_page("search", session=SESSION)
    at.number_input(key="limit").set_value(1)
    at = asked(at)
    said = texts(at)
    assert "The first one reaches the prompt" in said and "1 chunks" not in said
    assert "move" not in places(at) and "mark" not in places(at)
    at.slider(key="boost_conversation").set_value(0.5).run()
    assert "move" in places(calm(at))


def test_a_search_that_failed_is_asked_again(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the database answers, the page shows the result, and nobody has to press Search again."""
    explore = SearchService.explore

    def down(self: SearchService, request: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Retry.")

    monkeypatch.setattr(SearchService, "explore", down)
    at = asked(open_page("search", session=SESSION))
    assert "This search cannot be shown" in texts(at)
    monkeypatch.setattr(SearchService, "explore", explore)
    at.run()
    assert len(places(calm(at))) == 24


@pytest.mark.parametrize("query", ["x" * 4000, "I paid $20 :red[x] <b> ~tip~ _and_ $30", "чи хоче він стосунків?"])
def test_odd_queries(stored: Core, open_page: Open, query: str) -> None:
    """Long, hostile, Cyrillic: a result, and the query as it was typed."""
    at = asked(open_page("search", session=SESSION), query)
    assert len(places(at)) == 24 and at.text_input(key="query").value == query


def test_a_small_gap_is_not_called_nothing() -> None:
    """Three decimals cannot show it."""
    assert [gap(m) for m in (0.0, 0.0002, -0.002)] == ["0.000", "less than 0.001", "0.002"]
