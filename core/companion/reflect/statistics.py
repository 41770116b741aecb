"""The few statistics that correlations need, on numpy alone: Pearson, ranks, Student's t, Benjamini-Hochberg."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_STEPS = 300
_TINY = 1e-300


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's r; 0 where a series does not vary or there are fewer than 3 values."""
    if len(a) < 3:
        return 0.0
    if _constant(a) or _constant(b):
        return 0.0
    x, y = a - a.mean(), b - b.mean()
    return max(-1.0, min(1.0, float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))))


def _constant(values: np.ndarray) -> bool:
    # A series that differs in the last bits of a float does not vary.
    return float(np.ptp(values)) <= 1e-9 * float(np.abs(values).max())


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's r of the ranks."""
    return pearson(ranks(a), ranks(b))


def p_value(r: float, n: int) -> float:
    """Two-sided p of a correlation by Student's t with n - 2 degrees of freedom; 1 for fewer than 3 values."""
    if n < 3:
        return 1.0
    if abs(r) >= 1.0:
        return 0.0
    freedom = n - 2
    t2 = r * r * freedom / (1.0 - r * r)
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t2))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b). Source: DLMF 8.17.22, by Lentz's method."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))) / a
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away(1.0 + numerator * d)
            c = _away(1.0 + numerator / c)
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return min(1.0, front * fraction)


def benjamini_hochberg(ps: Sequence[float], q: float) -> list[bool]:
    """Which of these findings hold at a false discovery rate of q."""
    order = np.argsort(ps, kind="stable")
    passing = [k for k, i in enumerate(order, start=1) if ps[i] <= q * k / len(ps)]
    last = max(passing, default=0)
    kept = set(order[:last].tolist())
    return [i in kept for i in range(len(ps))]


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
