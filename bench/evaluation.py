"""An evaluation in numpy: 200 queries and 500 boost vectors, and each profile by itself. Budget: design section 8."""

from __future__ import annotations

import time
import uuid

import numpy as np

from core.memory.retrieval import SEED, Profile
from core.memory.score import Candidates
from core.memory.sources import SOURCES
from core.tuning.evaluation import compare, measured
from core.tuning.fit import heat
from core.tuning.grid import evaluate, vectors_of
from core.tuning.judged import Judged
from core.tuning.labels import LabelledQuery
from core.tuning.metrics import UNJUDGED
from core.tuning.resample import flat

QUERIES, CHUNKS, VECTORS = 200, 1_000, 500
ALONE = 5  # vectors ranked the long way, for comparison


def main() -> None:
    pool = [query(n) for n in range(QUERIES)]
    random = np.random.default_rng(3)
    weights = [
        dict(zip(SOURCES, map(float, random.uniform(-0.3, 0.3, len(SOURCES))), strict=True)) for _ in range(VECTORS)
    ]
    began = time.perf_counter()
    values, _ = evaluate(pool, SEED, vectors_of(weights), "recall", 12)
    took = time.perf_counter() - began
    began = time.perf_counter()
    best = int(np.argmax(values.mean(axis=0)))
    same = flat(values, best)
    sure = time.perf_counter() - began
    print(
        f"evaluation, {QUERIES} queries of {CHUNKS:,} chunks x {VECTORS} vectors: {took:.2f} s (budget 2), "
        f"flat region of {int(same.sum())} by bootstrap {sure:.2f} s"
    )
    began = time.perf_counter()
    for column in range(ALONE):
        alone = measured(pool, Profile(weights=weights[column]), 12)
        assert np.array_equal(alone.values["recall"], values[:, column])
    each = (time.perf_counter() - began) / ALONE
    print(f"the same figures, each profile by itself: {each * VECTORS:.1f} s, ratio {each * VECTORS / took:.0f}")
    began = time.perf_counter()
    heat(pool, Profile("words", fusion=0.35), "note", "conversation", "ndcg", 12)
    print(f"map over two boosts with fusion, {QUERIES} queries: {time.perf_counter() - began:.2f} s")
    began = time.perf_counter()
    compare(pool, measured(pool, SEED, 12), measured(pool, Profile(), 12), "recall", 12)
    print(f"comparison of two profiles with intervals: {time.perf_counter() - began:.2f} s")


def query(number: int) -> Judged:
    """One query over a dialog of random chunks, 40 of them judged."""
    random = np.random.default_rng(number)
    ids = [str(uuid.UUID(int=int(a))) for a in random.integers(0, 2**62, CHUNKS)]
    sources = [SOURCES[i] for i in random.integers(0, len(SOURCES), CHUNKS)]
    candidates = Candidates.of(ids, sources, random.normal(0.5, 0.08, CHUNKS))
    grades = np.full(CHUNKS, UNJUDGED, dtype=np.int8)
    near = np.argsort(-candidates.cosines)[:40]
    grades[near] = random.integers(0, 4, 40)
    asked = LabelledQuery(f"q{number}", f"d{number % 20}", "words")
    return Judged(asked, candidates, random.gamma(1.0, 2.0, CHUNKS), {}, grades, grades[grades >= 0])


if __name__ == "__main__":
    main()
