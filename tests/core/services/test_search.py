"""Search as pages, API and command line ask for it: weights, fallback, and the record of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.db.client import Database
from core.embedding.lexical import lexical_vector
from core.errors import DatabaseUnavailable, InputError, ProviderMissing, ProviderUnavailable
from core.memory.requests import AcrossRequest, SearchRequest, parse_search
from core.services.search import SearchService
from tests.support.dialogs import BrokenEmbedder, body, message

if TYPE_CHECKING:
    from core.bootstrap import Core

BROKEN = BrokenEmbedder(ProviderUnavailable("The embedder does not answer."))


@pytest.fixture
def without_embedder(core: Core) -> SearchService:
    return SearchService(core.db, lambda: BROKEN, core.events, core.clock)


@pytest.fixture
def without_database(core: Core) -> SearchService:
    closed = Database("http://127.0.0.1:9", "key", timeout_s=1.0)
    return SearchService(closed, core.embedder, core.events, core.clock)


def test_the_envelope_is_the_specs(core: Core) -> None:
    """camelCase outside, the RPC's own row inside; explanations only where they were asked for."""
    core.ingest.ingest(body("k1"))
    request = parse_search({"dialogKey": "k1", "query": "trust", "limit": 3})
    answer = core.search.search(request).as_json()
    assert set(answer) == {"favoriteId", "dialogKey", "query", "results"}
    assert len(answer["results"]) == 3
    assert set(answer["results"][0]) == {"id", "source", "text", "weighted_score", "note_date", "sent_at", "direction"}
    explained = core.search.search(
        parse_search({"dialogKey": "k1", "query": "trust", "explain": True, "requestId": "r1"})
    )
    more = explained.as_json(explain=True)
    assert set(more["results"][0]) - set(answer["results"][0]) == {"cosine", "boost", "rank", "source_id"}
    assert (more["model"], more["weightsVersion"], more["fallback"], more["requestId"]) == ("test:768", 1, False, "r1")
    assert set(more["latencyMs"]) == {"embed", "database", "score", "total"}


def test_explicit_weights_replace_the_active_ones(core: Core) -> None:
    """A source they lack counts 0, and the answer claims no version for them."""
    core.ingest.ingest(body("k1"))
    plain = core.search.search(SearchRequest("k1", "trust", weights={}))
    assert all(hit.boost == 0 and hit.weighted_score == hit.cosine for hit in plain.hits)
    assert plain.weights_version is None
    assert core.search.search(SearchRequest("k1", "trust")).weights_version == 1
    only = core.search.search(SearchRequest("k1", "trust", weights={"profile": 2.0}, limit=5))
    assert {hit.source for hit in only.hits} == {"profile"}


@pytest.mark.parametrize("query", ["", "  ", "\u200b"])
def test_an_empty_query_is_refused(core: Core, query: str) -> None:
    """Before anything is embedded or asked."""
    for ask in (core.search.search, core.search.explore):
        with pytest.raises(InputError) as refused:
            ask(SearchRequest("k1", query))
        assert refused.value.field == "query"


def test_a_failing_embedder_is_an_error_unless_fallback_is_allowed(core: Core, without_embedder: SearchService) -> None:
    """502 by default; with permission the dialog's own texts by words, marked in the answer and warned about."""
    core.ingest.ingest(body("k1"))
    with pytest.raises(ProviderUnavailable):
        without_embedder.search(SearchRequest("k1", "worries about trust"))
    found = without_embedder.search(SearchRequest("k1", "worries about trust", allow_fallback=True))
    answer = found.as_json()
    assert answer["fallback"] is True
    assert "Lexical" in answer["warnings"][0]["message"]
    assert answer["results"][0]["text"] == "He worries about trust. He was hurt before."
    assert set(answer["results"][0]) == {"id", "source", "text", "weighted_score", "note_date", "sent_at", "direction"}
    assert found.total == 14


def test_a_fallback_score_is_lexical_cosine_plus_boost(core: Core, without_embedder: SearchService) -> None:
    """Equal to the 128-dimensional vectors of the existing service."""
    core.ingest.ingest(body("k1"))
    for hit in without_embedder.search(SearchRequest("k1", "long walks", allow_fallback=True)).hits:
        cosine = float(lexical_vector("long walks") @ lexical_vector(hit.text))
        assert hit.weighted_score == pytest.approx(cosine + hit.boost, abs=1e-5)


def test_the_payload_is_the_corpus_before_the_database(without_database: SearchService) -> None:
    """With the database gone the chunks of the request's own payload are searched; without a payload it is an error."""
    request = parse_search({**body("k1"), "query": "long walks", "allowFallback": True})
    found = without_database.search(request)
    assert found.fallback
    assert found.hits[0].text == "Likes long walks by the river."
    with pytest.raises(DatabaseUnavailable):
        without_database.search(parse_search({**body("k1"), "query": "walks"}))
    with pytest.raises(DatabaseUnavailable):
        without_database.search(SearchRequest("k1", "walks", allow_fallback=True))


def test_neither_embedder_nor_database_nor_payload_is_an_error(core: Core) -> None:
    """There is nothing left to search: the database's failure is told."""
    closed = Database("http://127.0.0.1:9", "key", timeout_s=1.0)
    nothing = SearchService(closed, lambda: BROKEN, core.events, core.clock)
    with pytest.raises(DatabaseUnavailable):
        nothing.search(SearchRequest("k1", "walks", allow_fallback=True))


def test_a_missing_embedder_keeps_its_hint(core: Core) -> None:
    """The error that the caller gets names the variable to set."""

    def none() -> Any:
        raise ProviderMissing("No embedder is configured.", hint="Set BESCO_GEMINI_API_KEY to use Gemini.")

    with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY"):
        SearchService(core.db, none, core.events, core.clock).search(SearchRequest("k1", "q"))


def test_the_three_apostrophes_are_one_in_the_fallback(core: Core, without_embedder: SearchService) -> None:
    """U+0027, U+2019 and U+02BC: each spelling of the query finds all three messages alike."""
    texts = [f"моя сім{mark}я велика" for mark in "'\u2019\u02bc"]
    messages = [message(n, text) for n, text in enumerate(texts, start=1)]
    core.ingest.ingest({"dialogKey": "k1", "conversationJson": {"messages": messages}})
    for mark in "'\u2019\u02bc":
        hits = without_embedder.search(SearchRequest("k1", f"сім{mark}я", allow_fallback=True)).hits
        assert len({hit.weighted_score for hit in hits}) == 1
        assert hits[0].weighted_score > 0.5


def test_an_exploration_holds_everything_for_a_what_if(core: Core) -> None:
    """All cosines, texts of the best, the lexical ranking of the same texts, counts, and where the time went."""
    core.ingest.ingest(body("k1", messages=70))
    found = core.search.explore(SearchRequest("k1", "long walks", client_id="ru-1"))
    assert len(found.candidates) == found.total == found.searchable == 78
    assert len(found.candidates.rows) == found.lexical_compared == 58
    assert found.lexical[0].text == "Likes long walks by the river."
    assert found.weights == found.active_weights
    assert found.latency.database_ms > 0
    assert not found.fallback


def test_an_exploration_falls_back_too(core: Core, without_embedder: SearchService) -> None:
    """The page shows the lexical ranking in place of nothing, and says so."""
    core.ingest.ingest(body("k1"))
    found = without_embedder.explore(SearchRequest("k1", "long walks", allow_fallback=True))
    assert found.fallback and found.model == "lexical:128" and found.warnings
    assert len(found.candidates) == 14
    with pytest.raises(ProviderUnavailable):
        without_embedder.explore(SearchRequest("k1", "long walks"))


def test_superseded_chunks_are_marked_in_an_exploration(core: Core) -> None:
    """Both texts of an edited message are found; which one is current is said."""
    for text in ("see you at five", "see you at six"):
        core.ingest.ingest({"dialogKey": "k1", "conversationJson": {"messages": [message(7, text)]}})
    found = core.search.explore(SearchRequest("k1", "see you"))
    texts = {found.candidates.rows[i].text for i in found.superseded}
    assert texts == {"see you at five"}


def test_events_of_a_search_hold_no_query(core: Core, without_embedder: SearchService) -> None:
    """A hash, a length and counts; one more event for a fallback, and one for an empty answer."""
    core.ingest.ingest(body("k1"))
    core.search.search(SearchRequest("k1", "does he worry about trust", request_id="r-1"))
    core.search.across(AcrossRequest("does he worry about trust"))
    core.search.search(SearchRequest("nobody", "does he worry about trust"))
    without_embedder.search(SearchRequest("k1", "does he worry about trust", allow_fallback=True))
    assert core.events.flush()
    rows = core.events.store.query(limit=20).rows
    types = [row.type for row in rows]
    assert (types.count("SearchPerformed"), types.count("SearchEmpty"), types.count("SearchFallbackUsed")) == (4, 1, 1)
    one = next(row for row in reversed(rows) if row.type == "SearchPerformed").payload
    assert (one["dialog_key"], one["request_id"], one["query_len"], one["results"]) == ("k1", "r-1", 25, 12)
    assert "worry" not in repr(rows)
