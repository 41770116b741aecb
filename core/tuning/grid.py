"""Many boost vectors on many queries at once. Pure numpy: 200 queries and 500 vectors take well under 2 s.

A boost is constant within a source, so the best k of the whole are among the best k of each source (of which a quota
keeps its number): each query shrinks to those, in the order of their ids, and a stable sort breaks ties as SQL does.
A character budget is not followed here: it depends on the order itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.memory.bm25 import spread, z_scores
from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from core.tuning.judged import Judged
from core.tuning.metrics import measure

BEYOND = -2


@dataclass(frozen=True, eq=False)
class Short:
    """What can reach the top k of one query under any boosts: m candidates, by id. `base` is the score without boosts,
    `scale` what a boost of one unit adds."""

    base: np.ndarray
    codes: np.ndarray
    grades: np.ndarray
    known: np.ndarray
    scale: float


def shorten(one: Judged, profile: Profile, k: int) -> Short:
    """With the profile's unit, fusion and quotas; its boosts are left out."""
    candidates = one.candidates
    sd = spread(candidates.cosines) or 1.0
    base = candidates.cosines
    if profile.fusion:
        base = base + sd * profile.fusion * z_scores(one.lexical)
    ranks = candidates.id_ranks
    kept = []
    for code in np.unique(candidates.codes):
        mine = np.flatnonzero(candidates.codes == code)
        most = min(k, profile.quotas.get(SOURCES[code], k)) if code < len(SOURCES) else k
        kept.append(mine[np.lexsort((ranks[mine], -base[mine]))[:most]])
    chosen = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
    chosen = chosen[np.argsort(ranks[chosen])]
    scale = sd if profile.unit == "sd" else 1.0
    return Short(base[chosen], candidates.codes[chosen], one.grades[chosen], one.known, scale)


def vectors_of(weights: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Boosts as float64 (w, sources + 1); the last column is for unknown sources, which get none."""
    return np.array([[float(w.get(source, 0.0)) for source in SOURCES] + [0.0] for w in weights])


def measure_short(short: Short, vectors: np.ndarray, k: int, limit: int) -> dict[str, np.ndarray]:
    """Every metric and the coverage of one query under each vector, float64 (w,)."""
    boosts = vectors * short.scale
    scores = short.base[None, :] + boosts[:, short.codes]
    order = np.argsort(-scores, axis=1, kind="stable")[:, : min(k, limit)]
    grades = np.full((len(vectors), k), BEYOND, dtype=np.int8)
    grades[:, : order.shape[1]] = short.grades[order]
    return measure(grades, short.known, k)


def evaluate(
    pool: Sequence[Judged], profile: Profile, vectors: np.ndarray, metric: str, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """(values, coverage) of every query under every boost vector, each float64 (queries, w).

    A value is NaN where the query has no relevant chunk.
    """
    values = np.empty((len(pool), len(vectors)))
    coverage = np.empty((len(pool), len(vectors)))
    for row, one in enumerate(pool):
        found = measure_short(shorten(one, profile, min(k, profile.limit)), vectors, k, profile.limit)
        values[row], coverage[row] = found[metric], found["coverage"]
    return values, coverage
