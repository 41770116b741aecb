"""The bootstrap: seeded, paired, and right about what it cannot tell apart."""

from __future__ import annotations

import numpy as np
import pytest

from core.tuning.resample import draws, flat, interval


def test_the_same_differences_give_the_same_interval() -> None:
    """Seeded: an evaluation repeated on the same labels says the same."""
    values = np.random.default_rng(5).normal(0.03, 0.2, 80)
    assert interval(values) == interval(values.copy())


def test_bounds_agree_with_theory() -> None:
    """Close to mean plus and minus 1.96 standard errors for many normal differences."""
    values = np.random.default_rng(6).normal(0.1, 0.5, 400)
    found = interval(values)
    assert found is not None and found.excludes_zero
    error = 1.96 * values.std() / np.sqrt(len(values))
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - error, abs=0.01)
    assert found.high == pytest.approx(values.mean() + error, abs=0.01)


def test_none_and_one() -> None:
    """No difference has no interval; a single one has no width, and one of 0 does not exclude 0."""
    assert interval(np.array([])) is None
    one = interval(np.array([0.0]))
    assert one is not None and one.low == one.high == 0.0 and not one.excludes_zero


def test_draws_are_shares() -> None:
    """Each resample draws as many as there are."""
    shares = draws(7, 100)
    assert shares.shape == (100, 7) and np.allclose(shares.sum(axis=1), 1.0)


def test_flat_holds_the_best_and_its_equals() -> None:
    """A column equal to the best is flat, a much worse one is not."""
    random = np.random.default_rng(9)
    best = random.random(60)
    values = np.stack([best, best, best - 0.3], axis=1)
    assert flat(values, 0).tolist() == [True, True, False]
    assert flat(np.empty((0, 3)), 0).all()
