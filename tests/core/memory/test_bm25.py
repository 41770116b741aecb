"""BM25 over the texts of a dialog, against the formula written out."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.embedding.lexical import lexical_terms
from core.memory.bm25 import K1, B, Bm25Index, spread, z_scores

texts = st.lists(st.lists(st.sampled_from(["ab", "bc", "cd", "море", "п'ять"]), max_size=6).map(" ".join), max_size=8)


@given(texts, st.lists(st.sampled_from(["ab", "cd", "МОРЕ", "п’ять", "zz"]), max_size=4).map(" ".join))
def test_scores_are_the_formula(docs: list[str], query: str) -> None:
    """k1 1.5, b 0.75; a repeated word of the query counts once; case and apostrophes do not matter."""
    tokens = [lexical_terms(d) for d in docs]
    mean = sum(map(len, tokens)) / len(docs) if docs else 0
    expected = []
    for doc in tokens:
        score = 0.0
        for term in set(lexical_terms(query)):
            df = sum(term in d for d in tokens)
            tf = doc.count(term)
            if tf:
                idf = math.log(1 + (len(docs) - df + 0.5) / (df + 0.5))
                score += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * len(doc) / mean))
        expected.append(score)
    found = Bm25Index.of([str(i) for i in range(len(docs))], docs).scores(query)
    assert found == pytest.approx(expected)


def test_by_id_in_any_order() -> None:
    """What `rank_profile` takes: the scores of the candidates, 0 for one that the index does not hold."""
    index = Bm25Index.of(["x", "y"], ["tea at five", "nothing"])
    assert index.of_ids("tea", ["y", "z", "x"]).tolist() == [0.0, 0.0, index.scores("tea")[0]]
    assert len(Bm25Index.of([], []).of_ids("tea", [])) == 0
    with pytest.raises(ValueError, match="lengths"):
        Bm25Index.of(["x"], [])


def test_z_scores() -> None:
    """Mean 0 and deviation 1; zeros where nothing spreads."""
    found = z_scores(np.array([1.0, 2.0, 6.0]))
    assert found.mean() == pytest.approx(0) and found.std() == pytest.approx(1)
    assert z_scores(np.array([0.3, 0.3])).tolist() == [0, 0] and z_scores(np.zeros(0)).size == 0
    assert spread(np.array([0.1 + 0.2, 0.3])) is None


def test_a_thousand_chunks_are_quick() -> None:
    """Indexed in well under a second, a query in well under 50 ms (generous, for a busy machine)."""
    random = np.random.default_rng(1)
    words = [f"w{n}" for n in range(3_000)]
    docs = [" ".join(random.choice(words, 60)) for _ in range(1_000)]
    began = time.process_time()
    index = Bm25Index.of([str(i) for i in range(1_000)], docs)
    indexed = time.process_time()
    index.scores("w1 w2 w3 w4 w5 w6")
    assert indexed - began < 1.0 and time.process_time() - indexed < 0.05
