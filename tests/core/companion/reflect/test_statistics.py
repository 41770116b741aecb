"""The statistics behind correlations, against figures of scipy 1.17."""

from __future__ import annotations

import numpy as np
import pytest

from core.companion.reflect.statistics import (
    benjamini_hochberg,
    incomplete_beta,
    p_value,
    pearson,
    ranks,
    spearman,
)

P_VALUES = [
    (0.31, 40, 0.05157098014347563),
    (0.5, 14, 0.06865501403808597),
    (0.3, 60, 0.019868182889321698),
    (0.9, 14, 1.1602690117187485e-05),
    (0.05, 60, 0.7043993349428024),
    (0.999, 20, 9.461962149391849e-26),
]


@pytest.mark.parametrize(("r", "n", "p"), P_VALUES)
def test_p_is_that_of_students_t(r: float, n: int, p: float) -> None:
    """Two-sided, n - 2 degrees of freedom; the sign does not matter."""
    assert p_value(r, n) == pytest.approx(p, rel=1e-9) == p_value(-r, n)


def test_p_at_the_ends() -> None:
    """Perfect is 0; two points say nothing; none is 1."""
    assert (p_value(1.0, 20), p_value(-1.0, 20), p_value(0.9, 2), p_value(0.0, 20)) == (0.0, 0.0, 1.0, 1.0)
    assert (incomplete_beta(2, 3, 0.0), incomplete_beta(2, 3, 1.0)) == (0.0, 1.0)


def test_a_series_that_does_not_vary_gives_0() -> None:
    """Not NaN; also where it differs in the last bits of a float. Large values that vary little do vary."""
    rising = np.arange(20.0)
    assert pearson(np.ones(20), rising) == pearson(np.zeros(20), rising) == 0.0
    assert pearson(np.full(20, 0.1) + rising * 1e-18, rising) == 0.0
    assert pearson(np.array([1.0, 2.0]), np.array([1.0, 2.0])) == 0.0
    assert pearson(1e6 + rising, 1e6 - rising) == pytest.approx(-1.0)


def test_ranks_of_equal_values_are_shared() -> None:
    """The mean of theirs; one huge value is one rank."""
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert spearman(np.array([1.0, 2.0, 3.0, 1e9]), np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(1.0)


def test_benjamini_hochberg_takes_the_longest_run_that_holds() -> None:
    """The example of the paper of 1995: of 15 hypotheses the first 4 at q = 0.05."""
    ps = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.324,
        0.4262,
        0.5719,
        0.6528,
        0.759,
        1,
    ]
    assert benjamini_hochberg(ps, 0.05) == [True] * 4 + [False] * 11
    assert benjamini_hochberg([], 0.05) == []
