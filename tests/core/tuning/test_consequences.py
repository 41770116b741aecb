"""What another profile does to many prompts: counts in closed form equal to ranking each anew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.memory.retrieval import Profile
from core.memory.score import Candidates
from core.memory.sources import SOURCES
from core.tuning.consequences import Case, distances, effect

rows = st.lists(
    st.tuples(st.sampled_from(SOURCES), st.floats(-1, 1), st.floats(0, 9), st.uuids()),
    min_size=1,
    max_size=25,
    unique_by=lambda r: r[3],
)


def case_of(items: list[tuple[str, float, float, object]], n: int, limit: int = 4) -> Case:
    ids = [str(i[3]) for i in items]
    candidates = Candidates.of(ids, [i[0] for i in items], [i[1] for i in items])
    return Case(str(n), "2026-12-01", "d", candidates, np.array([i[2] for i in items]), dict.fromkeys(ids, 100), limit)


@given(
    st.lists(rows, max_size=6),
    st.sampled_from(("raw", "sd")),
    st.sampled_from((0.0, 0.4)),
    st.sampled_from(SOURCES),
    st.floats(-2, 2).filter(lambda d: abs(d) > 1e-6),
)
def test_counting_is_ranking_anew(pools: list[list], unit: str, fusion: float, source: str, delta: float) -> None:  # type: ignore[type-arg]
    """How many prompts change after a move of one boost, for any distance, without ranking any of them."""
    cases = [case_of(pool, n) for n, pool in enumerate(pools)]
    before = Profile(weights={"note": 0.1}, unit=unit, fusion=fusion)  # type: ignore[arg-type]
    found = distances(cases, before)[source]
    near = [abs(d - abs(delta)) for d in (*found.up, *found.down)]
    if near and min(near) < 1e-9:
        return  # a tie there: the id decides
    moved = Profile(weights={**before.weights, source: before.weights.get(source, 0.0) + delta}, unit=before.unit,
                    fusion=fusion)  # fmt: skip
    assert found.changed(delta) == effect(cases, before, moved).changed


def test_effect_says_who_and_how_much() -> None:
    """Which prompts differ, by how many chunks, and the places of each source before and after."""
    one = case_of([("note", 0.5, 0, "a"), ("conversation", 0.6, 0, "b")], 1, limit=1)
    two = case_of([("note", 0.1, 0, "c"), ("conversation", 0.9, 0, "d")], 2, limit=1)
    found = effect([one, two], Profile(), Profile(weights={"note": 0.2}))
    assert (found.cases, found.changed, found.exchanged) == (2, 1, 1)
    assert found.changes[0].id == "1" and (found.slots_before, found.slots_after) == (
        {"conversation": 1.0},
        {"note": 0.5, "conversation": 0.5},
    )
    far = distances([one, two], Profile())["note"]
    assert far.first_up is not None and abs(far.first_up - 0.1) < 1e-12 and far.first_down is None
    assert [far.changed(d) for d in (0.05, 0.2, 1.0, -1.0)] == [0, 1, 2, 0]
