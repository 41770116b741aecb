"""The latest recorded searches, compared again as of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.memory.requests import SearchRequest
from core.memory.retrieval import SEED, Profile
from core.tuning.consequences import effect
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core


def test_the_cases_are_what_was_searched(core: Core) -> None:
    """Latest first, each under the seed as it was returned; what can no longer be compared is counted, not hidden."""
    core.ingest.ingest(body("k1"))
    answers = [core.search.search(SearchRequest("k1", q, limit=5)) for q in ("trust", "sea", "trust")]
    core.search.search(SearchRequest("gone", "trust"))
    assert core.retrievals.recorder.flush(10)
    steps: list[tuple[int, int]] = []
    found = core.recent.load(progress=lambda done, of: steps.append((done, of)))
    assert (found.asked, found.recorded, found.nothing, found.without_words) == (4, 4, 1, 0)
    assert len(found.cases) == 3 and steps[-1] == (4, 4)
    ids = [tuple(hit.id for hit in answer.hits) for answer in reversed(answers)]
    assert [case.rank(SEED).taken_ids() for case in found.cases] == ids
    assert all(not case.candidates.rows and case.lengths for case in found.cases)
    assert effect(found.cases, SEED, SEED).changed == 0
    assert effect(found.cases, SEED, Profile(weights={"profile": 5.0})).changed == 3


def test_nothing_recorded(core: Core) -> None:
    """An empty list, no failure."""
    found = core.recent.load()
    assert (found.cases, found.asked, found.recorded) == ((), 0, 0)
