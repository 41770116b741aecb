"""How a profile ranks and takes, against naive definitions."""

from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory import whatif
from core.memory.bm25 import z_scores
from core.memory.fusion import field_of, rank_profile
from core.memory.retrieval import Profile
from core.memory.score import Candidates, rank
from core.memory.sources import SOURCES

Item = tuple[str, float, float, uuid.UUID, int]
items = st.lists(
    st.tuples(
        st.sampled_from(SOURCES), st.floats(-1, 1), st.sampled_from([0.0, 0.0, 1.5]) | st.floats(0, 20), st.uuids(),
        st.integers(1, 900),
    ),
    max_size=40,
    unique_by=lambda item: item[3],
)  # fmt: skip
profiles = st.builds(
    Profile,
    weights=st.dictionaries(st.sampled_from(SOURCES), st.floats(-2, 2)),
    unit=st.sampled_from(("raw", "sd")),
    fusion=st.sampled_from((0.0, 0.35)) | st.floats(0, 3),
    limit=st.integers(1, 24),
    budget_chars=st.none() | st.integers(100, 5_000),
    quotas=st.dictionaries(st.sampled_from(SOURCES), st.integers(0, 5)),
)


def pool_of(given_items: list[Item]) -> tuple[Candidates, np.ndarray, dict[str, int]]:
    ids = [str(i[3]) for i in given_items]
    candidates = Candidates.of(ids, [i[0] for i in given_items], [i[1] for i in given_items])
    return candidates, np.array([i[2] for i in given_items]), dict(zip(ids, (i[4] for i in given_items), strict=True))


@given(items, profiles)
def test_parts_sum_to_the_score(given_items: list[Item], profile: Profile) -> None:
    """cosine + lexical + boost = score, exactly, in every unit."""
    candidates, lexical, lengths = pool_of(given_items)
    found = rank_profile(candidates, lexical, profile, lengths)
    assert np.array_equal(found.scores, candidates.cosines + found.lexical + found.boosts)
    assert sorted(found.order.tolist()) == list(range(len(candidates)))
    assert (np.diff(found.scores[found.order]) <= 0).all()


@given(items, profiles)
def test_the_order_is_that_of_the_sum_in_deviations(given_items: list[Item], profile: Profile) -> None:
    """z(cosine) + fusion * z(bm25) + boost in SD: the scores on the other scale, up to rounding."""
    candidates, lexical, lengths = pool_of(given_items)
    found = rank_profile(candidates, lexical, profile, lengths)
    if np.std(candidates.cosines if len(candidates) else [0.0]) < 1e-6:
        return
    unit = 1.0 if profile.unit == "sd" else 1.0 / found.sd
    boosts = np.array([profile.weights.get(candidates.source(i), 0.0) * unit for i in range(len(candidates))])
    expected = z_scores(candidates.cosines) + profile.fusion * z_scores(lexical) + boosts
    assert found.in_sd() == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(items, st.dictionaries(st.sampled_from(SOURCES), st.floats(-2, 2)), st.integers(1, 24))
def test_raw_without_fusion_is_the_plain_ranking(given_items: list[Item], weights: dict[str, float], k: int) -> None:
    """Doubles and ties included: what the database returns."""
    candidates, lexical, _ = pool_of(given_items)
    found, plain = rank_profile(candidates, lexical, Profile(weights=weights, limit=k)), rank(candidates, weights)
    assert np.array_equal(found.order, plain.order) and np.array_equal(found.scores, plain.scores)
    assert found.taken_ids() == plain.top(k)


@given(items, profiles)
def test_limit_quotas_and_budget_are_kept(given_items: list[Item], profile: Profile) -> None:
    """None is exceeded, and nothing that would still fit was passed over."""
    candidates, lexical, lengths = pool_of(given_items)
    found = rank_profile(candidates, lexical, profile, lengths)
    slots, used = found.slots(), 0
    assert len(found.taken) <= profile.limit
    assert all(slots.get(source, 0) <= most for source, most in profile.quotas.items())
    taken, places, counted = set(found.taken.tolist()), 0, dict.fromkeys(SOURCES, 0)
    for index in found.order:
        source, size = candidates.source(int(index)), lengths[candidates.ids[index]]
        fits = (
            places < profile.limit
            and counted[source] < profile.quotas.get(source, profile.limit)
            and (profile.budget_chars is None or used + size <= profile.budget_chars)
        )
        assert (int(index) in taken) == fits
        if fits:
            places, used, counted[source] = places + 1, used + size, counted[source] + 1


@given(items, profiles, st.sampled_from(SOURCES), st.floats(-3, 3))
def test_flip_points_count_what_another_boost_changes(
    given_items: list[Item], profile: Profile, source: str, boost: float
) -> None:
    """The closed form says how many of the taken differ, under fusion, units and quotas alike."""
    candidates, lexical, _ = pool_of(given_items)
    profile = Profile(weights=profile.weights, unit=profile.unit, fusion=profile.fusion, limit=profile.limit,
                      quotas=profile.quotas)  # fmt: skip
    field = field_of(candidates, lexical, profile)
    before = set(rank_profile(candidates, lexical, profile).taken_ids())
    assert set(rank(field.candidates, field.weights).top(profile.limit)) == before
    points = whatif.flip_points(field.candidates, field.weights, source, profile.limit)
    at = boost * (field.sd if profile.unit == "sd" else 1.0)
    if any(abs(flip.boost - at) < 1e-9 or abs(flip.delta) < 1e-9 for flip in points.flips):
        return  # a tie: the id decides, on either side
    moved = Profile(weights={**profile.weights, source: boost}, unit=profile.unit, fusion=profile.fusion,
                    limit=profile.limit, quotas=profile.quotas)  # fmt: skip
    after = set(rank_profile(candidates, lexical, moved).taken_ids())
    assert len(before - after) == points.changes(at) == len(after - before)


def test_equal_cosines_do_not_divide_by_nothing() -> None:
    """Where cosines do not spread, the deviation counts as 1 and the words decide."""
    candidates = Candidates.of(["a", "b"], ["note", "note"], [0.5, 0.5])
    found = rank_profile(candidates, np.array([0.0, 3.0]), Profile(fusion=0.5))
    assert found.taken_ids() == ("b", "a") and found.sd == 1.0
    assert rank_profile(candidates, None, Profile(fusion=0.5)).taken_ids() == ("a", "b")


def test_a_text_of_unknown_length_does_not_fit() -> None:
    """A budget is never exceeded by a guess."""
    candidates = Candidates.of(["a", "b"], ["note", "note"], [0.5, 0.4])
    assert rank_profile(candidates, None, Profile(budget_chars=100), {"b": 90}).taken_ids() == ("b",)
