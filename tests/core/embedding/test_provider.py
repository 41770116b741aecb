"""The checks every embedder's answer passes, and pgvector's text form."""

from __future__ import annotations

import numpy as np
import pytest

from core.embedding.provider import DIMENSIONS, check_vectors, to_pgvector
from core.errors import BadEmbedding


def good(n: int) -> np.ndarray:
    return np.full((n, DIMENSIONS), 0.5)


def broken(row: int, value: float) -> np.ndarray:
    vectors = good(3)
    vectors[row, 7] = value
    return vectors


def test_right_vectors_pass_as_float32() -> None:
    """Lists and arrays of any float type become float32 (n, 768); none is (0, 768)."""
    assert check_vectors(good(2).tolist(), 2).dtype == np.float32
    assert check_vectors([], 0).shape == (0, DIMENSIONS)


@pytest.mark.parametrize(
    "vectors",
    [
        good(2),
        good(4),
        [],
        None,
        7,
        np.ones((3, 384)),
        np.ones(DIMENSIONS),
        broken(1, np.nan),
        broken(2, np.inf),
        np.vstack([good(2), np.zeros((1, DIMENSIONS))]),
        [[1.0], [1.0, 2.0], []],
        [["x"] * DIMENSIONS] * 3,
    ],
)
def test_wrong_vectors_are_refused(vectors: object) -> None:
    """Wrong count, dimension, values that are not finite, zeros, ragged rows: BadEmbedding."""
    with pytest.raises(BadEmbedding):
        check_vectors(vectors, 3)


def test_pgvector_text() -> None:
    """Six decimals in brackets, no exponent, zeros short."""
    assert to_pgvector(np.array([0.5, 0.0, -1e-7, 0.1234567], dtype=np.float32)) == "[0.500000,0,-0.000000,0.123457]"
