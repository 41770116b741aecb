"""Searches under a profile: equal to SQL where SQL can rank, exact in its own terms where it cannot, never failing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import DatabaseUnavailable
from core.memory import profiled
from core.memory import search as conductor
from core.memory.fusion import rank_profile
from core.memory.prompt import prompt_block
from core.memory.requests import SearchRequest
from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core

QUERY = "serious relationship and trust"


@pytest.fixture
def filled(core: Core) -> Core:
    core.ingest.ingest(body("k1", messages=30))
    return core


def run(core: Core, profile: Profile, limit: int = 12) -> Any:
    request = SearchRequest("k1", QUERY, limit=limit)
    return profiled.search(core.db, core.embedder(), request, profile, core.search.words, core.clock.now())


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(SOURCES), st.sampled_from([0.0, 0.18, -0.1]) | st.floats(-1, 1)),
    st.integers(1, 24),
)
def test_raw_weights_are_what_sql_says(filled: Core, weights: dict[str, float], limit: int) -> None:
    """Random weights: the same rows in the same order, with the same doubles, from numpy and from SQL."""
    request = SearchRequest("k1", QUERY, limit=limit, weights=weights)
    by_sql = filled.search.search(request).hits
    assert run(filled, Profile(weights=weights), limit).hits == by_sql


def test_fusion_quotas_and_budget_reach_the_answer(core: Core) -> None:
    """What the pure ranking takes is what the search returns, with its parts; prompt and all."""
    core.ingest.ingest(body("k1"))
    profile = Profile("own", 7, {"note": 0.5}, "sd", 0.6, 12, 400, {"profile": 1})
    found = run(core, profile)
    assert found.weights_version == 7 and found.profile == profile
    assert sum(len(hit.text) for hit in found.hits) <= 400
    assert sum(hit.source == "profile" for hit in found.hits) <= 1
    explored = core.search.with_words(core.search.explore(SearchRequest("k1", QUERY)))
    assert explored.bm25 is not None
    expected = rank_profile(explored.candidates, explored.bm25, profile)
    assert tuple(hit.id for hit in found.hits) == expected.taken_ids()
    assert prompt_block(found.hits) == prompt_block(conductor.hits_of(expected))


def test_texts_that_cannot_be_read_are_a_warning(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search stands without its words, and says so."""

    def away(*_: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    core.ingest.ingest(body("k1"))
    monkeypatch.setattr(core.search.words, "scores", away)
    found = run(core, Profile(weights={"note": 0.18}, fusion=0.35))
    assert [notice.field for notice in found.warnings] == ["fusion"]
    plain = core.search.search(SearchRequest("k1", QUERY, weights={"note": 0.18})).hits
    assert found.hits == plain


def test_an_empty_dialog_asks_for_no_words(core: Core) -> None:
    """Nothing to rank, nothing to read, no failure."""
    found = run(core, Profile(fusion=0.35))
    assert found.hits == () and found.total == 0
