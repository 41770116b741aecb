"""What an embedder is, and the checks that every answer of one passes before a row is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from core.errors import BadEmbedding

DIMENSIONS = 768


class Embedder(Protocol):
    """Texts in, vectors out; safe to call from several threads. Failures are ProviderErrors and hold no text."""

    @property
    def name(self) -> str:
        """As stored in `embedding_model`, such as 'gemini-embedding-001:768': only equal names are comparable."""

    @property
    def dimensions(self) -> int: ...

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, 768), rows in the order of the texts; (0, 768) for none."""

    def embed_query(self, text: str) -> np.ndarray:
        """float32 (768,)."""

    def close(self) -> None: ...


def check_vectors(vectors: Any, n: int) -> np.ndarray:
    """The vectors as float32 (n, 768).

    Errors: BadEmbedding for another count or dimension, a value that is not finite, or a vector of zeros, whose
    cosine with anything is undefined.
    """
    try:
        rows = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise BadEmbedding("The embedder's vectors differ in length or are not numbers.", hint=_HINT) from None
    if n == 0 and rows.size == 0:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    if rows.ndim != 2 or len(rows) != n:
        got = len(rows) if rows.ndim else 0
        raise BadEmbedding(f"The embedder returned {got} vectors for {n} texts.", hint=_HINT)
    if rows.shape[1] != DIMENSIONS:
        raise BadEmbedding(f"The embedder returned {rows.shape[1]} dimensions, the table has {DIMENSIONS}.", hint=_HINT)
    if not np.isfinite(rows).all():
        raise BadEmbedding("The embedder returned a value that is not finite.", hint=_HINT)
    if not rows.any(axis=1).all():
        raise BadEmbedding("The embedder returned a vector of zeros.", hint=_HINT)
    return rows


def to_pgvector(vector: np.ndarray) -> str:
    """A vector as pgvector's text form, six decimals: '[0.012345,-0.5,0]'."""
    return "[" + ",".join([f"{v:.6f}" if v else "0" for v in vector.tolist()]) + "]"


_HINT = "Nothing was written. Check the embedder's model and address."
