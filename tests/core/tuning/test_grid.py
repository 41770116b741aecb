"""Many vectors at once are each profile alone: the same places, the same ties, the same figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from core.tuning.evaluation import measured
from core.tuning.grid import evaluate, vectors_of
from core.tuning.metrics import METRICS
from tests.support.labelled import judged, random_pool

boost = st.sampled_from([0.0, 0.1, -0.1, 0.01]) | st.floats(-1, 1)
weights = st.dictionaries(st.sampled_from(SOURCES), boost)


@settings(max_examples=60)
@given(
    vectors=st.lists(weights, min_size=1, max_size=4),
    seed=st.integers(0, 50),
    unit=st.sampled_from(["raw", "sd"]),
    fusion=st.sampled_from([0.0, 0.35]),
    quotas=st.dictionaries(st.sampled_from(SOURCES), st.integers(0, 4), max_size=2),
    limit=st.integers(1, 15),
    k=st.integers(1, 15),
)
def test_equal_to_each_profile_alone(vectors, seed, unit, fusion, quotas, limit, k) -> None:  # type: ignore[no-untyped-def]
    """The shortened lists give exactly what ranking every candidate gives, ties, quotas and fusion included."""
    pool = random_pool(3, 40, seed=seed)
    profiles = [Profile(weights=w, unit=unit, fusion=fusion, quotas=quotas, limit=limit) for w in vectors]
    for metric in METRICS:
        values, coverage = evaluate(pool, profiles[0], vectors_of(vectors), metric, k)
        for column, profile in enumerate(profiles):
            alone = measured(pool, profile, k)
            assert values[:, column] == pytest.approx(alone.values[metric], abs=1e-12, nan_ok=True)
            assert coverage[:, column] == pytest.approx(alone.values["coverage"], abs=1e-12)


def test_empty_dialog() -> None:
    """A query over nothing has a value where something relevant is known, and it is 0."""
    one = judged([])
    values, coverage = evaluate([one], Profile(), vectors_of([{}, {"note": 1.0}]), "recall", 12)
    assert np.isnan(values).all() and (coverage == 0).all()
