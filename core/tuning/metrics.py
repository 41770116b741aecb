"""How good a list is, by what people said of its chunks. Pure numpy, over many lists of one query at once.

A chunk without a judgement counts as not relevant (grade 0); coverage says how many. Relevant is grade 1 to 3.

    recall@k      relevant in the first k / all relevant judged for the query
    precision@k   relevant in the first k / k, also where the list is shorter
    mrr@k         1 / place of the first relevant one within k, else 0
    ndcg@k        DCG / ideal DCG: gain = the grade itself (linear), discount 1 / log2(place + 1); the ideal list holds
                  the query's judged chunks by grade, cut at k

Equal to `ir-measures` (R@k, P@k, RR@k, nDCG@k with its defaults, from trec_eval) to 1e-9: see the tests. A query
without any relevant chunk has no value (NaN) and is left out of every mean, for all profiles alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

METRICS = ("recall", "ndcg", "mrr", "precision")
UNJUDGED = -1


def measure(grades: np.ndarray, judged: Sequence[int] | np.ndarray, k: int) -> dict[str, np.ndarray]:
    """Every metric of w lists of one query, each float64 (w,), and `coverage`, the judged share of the top k.

    `grades` int (w, n): the grade at each place, UNJUDGED where nobody judged; places beyond the end of a list are
    -2. `judged`: the grades of all chunks judged for the query, in the list or not.
    """
    top = np.asarray(grades)[:, :k]
    known = np.asarray(judged, dtype=np.float64)
    relevant = int((known > 0).sum())
    gains = np.maximum(top, 0).astype(np.float64)
    hits = top > 0
    shown = (top > -2).sum(axis=1)
    values = {"coverage": np.divide((top >= 0).sum(axis=1), shown, out=np.zeros(len(top)), where=shown > 0)}
    if not relevant:
        return values | {name: np.full(len(top), np.nan) for name in METRICS}
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    best = np.sort(known)[::-1][:k]
    ideal = float((best * discounts[: len(best)]).sum())
    first = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, np.inf) if top.shape[1] else np.full(len(top), np.inf)
    return values | {
        "recall": hits.sum(axis=1) / relevant,
        "ndcg": (gains * discounts[: top.shape[1]]).sum(axis=1) / ideal,
        "mrr": 1.0 / first,
        "precision": hits.sum(axis=1) / k,
    }


def mean(values: np.ndarray) -> float | None:
    """The mean over the queries that have a value; None where none has."""
    known = np.asarray(values)[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
