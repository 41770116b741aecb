"""Metrics against ir-measures, and the queries that have no value."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, Qrel, R, ScoredDoc, nDCG

from core.tuning.metrics import METRICS, UNJUDGED, mean, measure

grade = st.sampled_from([UNJUDGED, 0, 0, 1, 2, 3])


@given(
    listed=st.lists(grade, min_size=1, max_size=30),
    elsewhere=st.lists(st.integers(0, 3), max_size=10),
    k=st.integers(1, 24),
)
def test_equal_to_ir_measures(listed: list[int], elsewhere: list[int], k: int) -> None:
    """Recall, nDCG, MRR and precision of random lists with unjudged chunks, to 1e-9."""
    judged = [g for g in listed if g != UNJUDGED] + elsewhere
    found = {name: values[0] for name, values in measure(np.array([listed]), judged, k).items()}
    if not any(g > 0 for g in judged):
        assert all(np.isnan(found[name]) for name in METRICS)
        return
    qrels = [Qrel("q", f"d{i}", g) for i, g in enumerate(listed) if g != UNJUDGED]
    qrels += [Qrel("q", f"e{i}", g) for i, g in enumerate(elsewhere)]
    run = [ScoredDoc("q", f"d{i}", float(len(listed) - i)) for i in range(len(listed))]
    expected = ir_measures.calc_aggregate([R @ k, nDCG @ k, RR @ k, P @ k], qrels, run)
    for name, measured in zip(METRICS, (R @ k, nDCG @ k, RR @ k, P @ k), strict=True):
        assert found[name] == pytest.approx(expected[measured], abs=1e-9), name
        assert 0.0 <= found[name] <= 1.0


def test_many_lists_at_once_are_each_list_alone() -> None:
    """A row of a matrix gives what it gives by itself."""
    random = np.random.default_rng(3)
    grades = random.integers(-1, 4, size=(50, 20)).astype(np.int8)
    judged = random.integers(0, 4, size=40)
    together = measure(grades, judged, 12)
    for row in range(len(grades)):
        for name, values in measure(grades[[row]], judged, 12).items():
            assert values[0] == together[name][row]


def test_coverage_is_the_judged_share_of_what_is_shown() -> None:
    """Places beyond the end of a list are not unjudged ones."""
    assert measure(np.array([[3, UNJUDGED, 0, -2]]), [3, 0], 4)["coverage"][0] == pytest.approx(2 / 3)
    assert measure(np.array([[-2, -2]]), [3], 2)["coverage"][0] == 0.0


def test_a_query_without_a_relevant_chunk_has_no_value() -> None:
    """Only zeros, or nothing judged: neither 0 nor 1, and left out of the mean."""
    for judged in ([], [0, 0]):
        found = measure(np.array([[0, UNJUDGED]]), judged, 2)
        assert all(np.isnan(found[name][0]) for name in METRICS)
    assert mean(np.array([np.nan, 0.5, 1.0])) == 0.75
    assert mean(np.array([np.nan])) is None
