"""Two profiles side by side on invented labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.memory.retrieval import SEED, Profile
from core.tuning.evaluation import as_result, compare, measured
from core.tuning.verdict import Tally
from tests.support.labelled import judged, random_pool

NOTES_LAST = Profile("no boosts", 2)


def pool_where_notes_hurt(queries: int = 12, dialogs: int = 4):  # type: ignore[no-untyped-def]
    """Three relevant messages by cosine, twelve irrelevant notes that a boost lifts above them."""
    return [
        judged(
            [3, 2, 1] + [0] * 12,
            cosines=[0.6, 0.59, 0.58] + [0.5] * 12,
            sources=["conversation"] * 3 + ["note"] * 12,
            query=f"q{n}",
            dialog=f"d{n % dialogs}",
            category="facts" if n % 3 else None,
        )
        for n in range(queries)
    ]


def done(pool, k: int = 12):  # type: ignore[no-untyped-def]
    return compare(pool, measured(pool, SEED, k), measured(pool, NOTES_LAST, k), "recall", k)


def test_a_better_profile_ships() -> None:
    """The seed's note boost fills the prompt with notes; without it everything relevant is there."""
    found = done(pool_where_notes_hurt())
    assert found.baseline.mean("recall") == 0.0 and found.profile.mean("recall") == 1.0
    assert found.verdict.word == "ship"
    assert found.queries == Tally(12, 0, 0) and found.dialogs == Tally(4, 0, 0)
    assert found.baseline.slots == {"note": 12.0}
    assert found.profile.slots == {"conversation": 3.0, "note": 9.0}


def test_the_other_way_round_is_worse() -> None:
    """Baseline and profile changed places."""
    pool = pool_where_notes_hurt()
    found = compare(pool, measured(pool, NOTES_LAST, 12), measured(pool, SEED, 12), "recall", 12)
    assert found.verdict.word == "worse" and found.queries.losses == 12


def test_queries_without_a_relevant_chunk_are_left_out_alike() -> None:
    """Only zeros, or nothing judged: counted beside, never as 0 or 1, in both profiles."""
    pool = [*pool_where_notes_hurt(), judged([0, 0, 0], query="zeros"), judged([-1, -1], query="nothing")]
    found = done(pool)
    assert found.left_out == 2 and found.queries.of == 12
    assert found.profile.mean("recall") == 1.0 and found.profile.coverage == 1.0


def test_the_result_holds_figures_and_no_text() -> None:
    """What is stored is JSON, names queries by id, and sums up by category and dialog."""
    pool = [*pool_where_notes_hurt(), judged([0], query="zeros")]
    result = json.loads(json.dumps(as_result(pool, done(pool), llm=False), allow_nan=False))
    assert "text of" not in json.dumps(result)
    assert [c["category"] for c in result["categories"]] == ["facts", "without a category"]
    assert sum(c["queries"] for c in result["categories"]) == 12
    assert {d["dialog_key"] for d in result["dialogs"]} == {"d0", "d1", "d2", "d3"}
    assert result["queries"][-1]["profile"] is None
    assert result["primary"]["difference"] == 1.0


def test_equal_profiles_are_level() -> None:
    """The same weights under two versions: all ties, interval 0 to 0, no evidence."""
    pool = random_pool(30, 60)
    found = compare(pool, measured(pool, SEED, 12), measured(pool, SEED, 12), "ndcg", 12)
    assert found.queries.ties == found.queries.of
    difference = found.differences["ndcg"]
    assert difference is not None and difference.low == difference.high == 0.0


def test_an_own_limit_is_kept() -> None:
    """A profile that takes fewer chunks is measured on what it takes."""
    pool = pool_where_notes_hurt()
    short = measured(pool, Profile(limit=2), 12)
    assert short.mean("recall") == pytest.approx(2 / 3) and sum(short.slots.values()) == 2.0
    assert np.all(short.values["coverage"] == 1.0)
