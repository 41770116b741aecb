"""What other boosts would do, against ranking everything anew."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.memory.score import Candidates, rank
from core.memory.sources import SOURCES
from core.memory.whatif import (
    boost_in_sd,
    cut_line,
    flip_points,
    near_misses,
    needed_boost,
    rank_changes,
    slots,
)

NAMES = ("note", "profile", "photo", "summary", "conversation")


def sample(seed: int, n: int) -> Candidates:
    generator = np.random.default_rng(seed)
    ids = [str(uuid.UUID(bytes=generator.bytes(16))) for _ in range(n)]
    sources = [NAMES[i] for i in generator.integers(0, 4, n)]
    # Rounded, so that some cosines are equal and the id decides.
    return Candidates.of(ids, sources, np.round(generator.uniform(-1, 1, n), 2))


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(1, 15), st.sampled_from(NAMES), st.floats(-1, 1))
def test_flips_agree_with_ranking_anew(seed: int, n: int, k: int, source: str, start: float) -> None:
    """Walking over the flips gives, between any two of them, exactly the top k that a full ranking gives."""
    candidates = sample(seed, n)
    weights = {"note": 0.18, "profile": 0.08, source: start}
    points = flip_points(candidates, weights, source, k)
    assert [f.boost for f in points.flips] == sorted(f.boost for f in points.flips)
    assert (*reversed(points.down), *points.up) == points.flips
    inside = set(rank(candidates, {**weights, source: -5.0}).top(k))
    edges = [-4.0, *(f.boost for f in points.flips), 4.0]
    for i in range(len(edges) - 1):
        low, high = edges[i], edges[i + 1]
        if high - low > 1e-9:
            middle = (low + high) / 2
            assert inside == set(rank(candidates, {**weights, source: middle}).top(k))
            now = set(rank(candidates, weights).top(k))
            assert points.changes(middle) == len(now - inside)
        if i < len(points.flips):
            flip = points.flips[i]
            assert flip.leaves in inside and flip.enters not in inside
            inside = (inside - {flip.leaves}) | {flip.enters}


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 15), st.integers(0, 39))
def test_needed_boost_is_the_edge(seed: int, n: int, k: int, index: int) -> None:
    """A hair above it the chunk is inside, a hair below it is not; None means that no boost helps."""
    candidates = sample(seed, n)
    assume(index < n)
    weights = {"note": 0.18}
    source, chunk_id = candidates.source(index), candidates.ids[index]
    needed = needed_boost(rank(candidates, weights), index, k)
    if needed is None:
        assert chunk_id not in rank(candidates, {**weights, source: 9.0}).top(k)
    elif needed == float("-inf"):
        assert chunk_id in rank(candidates, {**weights, source: -9.0}).top(k)
    else:
        assert chunk_id in rank(candidates, {**weights, source: needed + 1e-9}).top(k)
        assert chunk_id not in rank(candidates, {**weights, source: needed - 1e-9}).top(k)


FOUR = Candidates.of(["a", "b", "c", "d"], ["note", "conversation", "note", "conversation"], [0.5, 0.6, 0.3, 0.2])


def test_an_example_by_hand() -> None:
    """Top 2 of four: where each note enters, and whom it pushes out."""
    points = flip_points(FOUR, {"note": 0.0}, "note", 2)
    assert [(round(f.boost, 9), f.enters, f.leaves) for f in points.flips] == [(-0.3, "a", "d"), (0.3, "c", "b")]
    assert points.passed == 1
    assert [f.enters for f in points.up] == ["c"] and [f.enters for f in points.down] == ["a"]
    assert points.up[0].delta == pytest.approx(0.3) and points.changes(0.4) == 1 and points.changes(0.0) == 0


def test_fewer_candidates_than_places() -> None:
    """Everything is inside, so nothing flips."""
    assert flip_points(FOUR, {}, "note", 12).flips == ()
    assert flip_points(FOUR, {}, "photo", 2).flips == () and flip_points(FOUR, {}, "note", 0).flips == ()


def test_cut_line_and_near_misses() -> None:
    """The scores on both sides of the line, and what each chunk below it lacks."""
    ranking = rank(FOUR, {"note": 0.2})
    line = cut_line(ranking, 2)
    assert (line.last_in, line.first_out) == (0.6, 0.5) and line.gap == pytest.approx(0.1)
    misses = near_misses(ranking, 2)
    assert [(m.id, m.rank) for m in misses] == [("c", 3), ("d", 4)]
    assert [m.short_by for m in misses] == pytest.approx([0.1, 0.4])
    assert cut_line(ranking, 4).first_out is None and cut_line(ranking, 4).gap is None
    assert cut_line(rank(Candidates.of([], [], []), {}), 2).last_in is None


def test_slots_name_every_source() -> None:
    """How many places each source takes, zeros too."""
    assert slots(rank(FOUR, {"note": 0.5}), 3) == {**dict.fromkeys(SOURCES, 0), "note": 2, "conversation": 1}


def test_boost_in_standard_deviations() -> None:
    """The same boost is large where cosines lie close together, and nothing can be said where they are all one."""
    near = Candidates.of(["a", "b"], ["note", "note"], [0.80, 0.84])
    assert boost_in_sd(near, {"note": 0.18})["note"] == pytest.approx(9.0)
    assert boost_in_sd(near, {"note": 0.18})["photo"] == 0.0
    flat = Candidates.of(["a", "b", "c"], ["note"] * 3, [0.1, 0.1, 0.1])
    assert set(boost_in_sd(flat, {"note": 0.18}).values()) == {None}
    assert set(boost_in_sd(Candidates.of([], [], []), {}).values()) == {None}


def test_rank_changes() -> None:
    """Only chunks of either top k whose place differs, by their new rank."""
    changes = rank_changes(FOUR, {}, {"note": 0.35}, 2)
    assert [(c.id, c.before, c.after, c.entered, c.left) for c in changes] == [
        ("a", 2, 1, False, False),
        ("c", 3, 2, True, False),
        ("b", 1, 3, False, True),
    ]
    assert changes[0].moved == 1 and rank_changes(FOUR, {}, {}, 2) == ()
