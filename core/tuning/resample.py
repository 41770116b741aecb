"""How sure a difference is: a paired bootstrap over queries, seeded, so that the same labels give the same interval.

A resample draws as many queries as there are, with replacement, and takes the mean of their differences; the interval
holds the middle 95 % of 2,000 such means. Queries of one dialog are not independent, which makes it a little too
narrow: the verdict therefore asks for the sign by dialog as well. Source: Efron and Tibshirani, percentile method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RESAMPLES = 2_000
SEED = 20261202
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """The mean difference and the bounds of its middle 95 %."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def draws(n: int, resamples: int = RESAMPLES, seed: int = SEED) -> np.ndarray:
    """How often each of n queries is drawn, as shares: float64 (resamples, n), rows that sum to 1."""
    random = np.random.default_rng(seed)
    picked = random.integers(0, n, size=(resamples, n)) + np.arange(resamples)[:, None] * n
    return np.bincount(picked.ravel(), minlength=resamples * n).reshape(resamples, n) / n


def interval(differences: np.ndarray) -> Interval | None:
    """Of paired differences, one per query; None for none."""
    known = np.asarray(differences, dtype=np.float64)
    if not len(known):
        return None
    means = draws(len(known)) @ known
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(known.mean()), float(low), float(high))


def flat(values: np.ndarray, best: int) -> np.ndarray:
    """Which of w columns cannot be told from the best one: bool (w,). `values` float64 (queries, w), without NaN."""
    if not len(values):
        return np.ones(values.shape[1], dtype=bool)
    behind = values[:, [best]] - values
    low = np.quantile(draws(len(values), 1_000) @ behind, (1 - LEVEL) / 2, axis=0)
    return low <= 0
