"""The conductor of a search against the embedded database: equal to the service's own function, one model only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.embedding.provider import to_pgvector
from core.embedding.test import TestEmbedder
from core.memory import search as conductor
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.score import rank
from core.memory.search import Weights
from core.memory.sources import DEFAULT_WEIGHTS
from tests.support.dialogs import ODD_KEY, SpyEmbedder, body

if TYPE_CHECKING:
    from core.bootstrap import Core

DEFAULT = Weights(DEFAULT_WEIGHTS, 1)
QUERIES = ("trust", "message number 3", "a serious relationship", "нічого такого")


def rpc_rows(core: Core, request: SearchRequest, weights: Weights = DEFAULT) -> list[dict[str, Any]]:
    params = {
        "query_embedding": to_pgvector(TestEmbedder().embed_query(request.query)),
        "match_dialog_key": request.dialog_key,
        "match_client_id": request.client_id,
        "match_compose_mode": "reply",
        "match_count": request.limit,
        "source_weights": dict(weights.boosts),
    }
    return core.db.rpc("match_client_memory_chunks", params, read=True, returns=list)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("boosts", [DEFAULT_WEIGHTS, {}, {"conversation": 0.5, "note": -0.2}], ids=str)
def test_rows_equal_those_of_the_services_own_function(core: Core, query: str, boosts: dict[str, float]) -> None:
    """In a dialog of one model: the same rows, in the same order, to the last digit and character."""
    core.ingest.ingest(body("k1", messages=60))
    request = SearchRequest("k1", query, client_id="ru-1", limit=24)
    weights = Weights(boosts, None)
    found = conductor.search(core.db, core.embedder(), request, weights)
    assert [hit.as_row() for hit in found.hits] == rpc_rows(core, request, weights)
    assert len(found.hits) == 24


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_re_ranked_here_equals_what_the_database_ranks(core: Core, query: str) -> None:
    """What-if = SQL: the candidates, ranked in numpy under any weights, are the rows of a search with these weights."""
    core.ingest.ingest(body("k1", messages=60))
    request = SearchRequest("k1", query, client_id="ru-1", limit=24)
    explored = conductor.explore(core.db, core.embedder(), request, DEFAULT, DEFAULT, core.clock.now())
    assert conductor.best_hits(explored) == conductor.search(core.db, core.embedder(), request, DEFAULT).hits
    for boosts in ({}, {"profile": 0.3}, {"note": -1.0, "conversation": 0.01}):
        by_sql = conductor.search(core.db, core.embedder(), request, Weights(boosts, None))
        assert rank(explored.candidates, boosts).top(24) == tuple(hit.id for hit in by_sql.hits)


def test_parts_sum_to_the_score(core: Core) -> None:
    """The score is never one mystery number."""
    core.ingest.ingest(body("k1"))
    found = conductor.search(core.db, core.embedder(), SearchRequest("k1", "trust"), DEFAULT)
    assert found.hits
    for hit in found.hits:
        assert hit.weighted_score == pytest.approx(hit.cosine + hit.boost, abs=1e-12)
        assert hit.boost == DEFAULT_WEIGHTS.get(hit.source, 0.0)


def test_rows_of_another_model_are_counted_and_never_compared(core: Core) -> None:
    """A cosine between two models means nothing: those rows are absent, however near they look, and counted."""
    core.ingest.ingest(body("k1", messages=3, notes=()))
    other = SpyEmbedder("other-model:768")
    request = SearchRequest("k1", "message number 1")
    assert conductor.search(core.db, core.embedder(), request, DEFAULT).other_models == {}
    found = conductor.search(core.db, other, request, DEFAULT)
    assert (found.hits, found.searchable, found.total) == ((), 0, found.total)
    assert found.other_models == {"test:768": found.total}
    assert "not searchable until re-embedded" in found.warnings[0].message
    explored = conductor.explore(core.db, other, request, DEFAULT, DEFAULT, core.clock.now())
    assert len(explored.candidates) == 0
    assert explored.other_models == {"test:768": explored.total}


def test_rows_of_another_client_are_left_out_and_counted(core: Core) -> None:
    """`match_client_id` keeps rows of that client or of none; an exploration says how many it left out."""
    core.ingest.ingest(body("k1", messages=3))
    mine = conductor.search(core.db, core.embedder(), SearchRequest("k1", "message", client_id="ru-1"), DEFAULT)
    other = SearchRequest("k1", "message", client_id="somebody else")
    assert mine.hits and not conductor.search(core.db, core.embedder(), other, DEFAULT).hits
    explored = conductor.explore(core.db, core.embedder(), other, DEFAULT, DEFAULT, core.clock.now())
    assert explored.excluded["client_id"] == mine.total


def test_an_odd_key_finds_its_dialog_and_only_it(core: Core) -> None:
    """Quotes, commas and percent signs in a key are nothing special."""
    core.ingest.ingest(body(ODD_KEY, messages=2))
    core.ingest.ingest(body("k", messages=5))
    assert conductor.search(core.db, core.embedder(), SearchRequest(ODD_KEY, "message", limit=24), DEFAULT).total == 10
    assert not conductor.search(core.db, core.embedder(), SearchRequest('k"1', "message"), DEFAULT).total


def test_across_finds_the_dialog_and_can_leave_one_out(core: Core) -> None:
    """Every hit of a search over all dialogs says whose it is."""
    core.ingest.ingest(body("k1", messages=2, notes=("He keeps bees in the garden.",)))
    core.ingest.ingest(body("k2", messages=2, notes=("She sails at weekends.",)))
    found = conductor.across(core.db, core.embedder(), AcrossRequest("keeps bees"), DEFAULT, core.clock.now())
    assert (found.hits[0].dialog_key, found.method) == ("k1", "exact")
    assert [hit.weighted_score for hit in found.hits] == sorted((h.weighted_score for h in found.hits), reverse=True)
    without = AcrossRequest("keeps bees", exclude_dialog="k1")
    assert {
        h.dialog_key for h in conductor.across(core.db, core.embedder(), without, DEFAULT, core.clock.now()).hits
    } == {"k2"}


def test_the_limit_is_clamped_to_24(core: Core) -> None:
    """The service's limit is 24, whatever the SQL would give."""
    core.ingest.ingest(body("k1", messages=60))
    assert len(conductor.search(core.db, core.embedder(), SearchRequest("k1", "m", limit=1000), DEFAULT).hits) == 24
    assert len(conductor.search(core.db, core.embedder(), SearchRequest("k1", "m", limit=0), DEFAULT).hits) == 1
