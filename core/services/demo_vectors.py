"""The vectors of the demo texts, shipped: embedding them anew would cost a minute at the first start."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from core.embedding.provider import DIMENSIONS
from core.errors import BadEmbedding
from core.services.demo_content import FOLDER

FILE = FOLDER / "vectors.npz"
REBUILD = "Run `python -m core demo --rebuild`."


@dataclass(frozen=True)
class ShippedVectors:
    """Vectors by the sha256 of their text, so that a changed text is missed and not given a wrong vector."""

    model: str
    _rows: dict[bytes, int]
    _values: np.ndarray  # int8 (n, width): trailing zeros are not stored
    _scales: np.ndarray  # float32 (n,)

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (n, 768). Errors: BadEmbedding with the number of texts that have none."""
        rows = [self._rows.get(_digest(text)) for text in texts]
        missing = rows.count(None)
        if missing:
            raise BadEmbedding(f"{missing} demo texts have no shipped vector.", hint=REBUILD)
        found = np.array(rows, dtype=np.intp)
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        vectors[:, : self._values.shape[1]] = self._values[found] * self._scales[found, None]
        return vectors


def read_vectors(path: Path = FILE) -> ShippedVectors:
    """Errors: BadEmbedding where the file is absent or damaged."""
    try:
        with np.load(path) as file:
            rows = {digest.tobytes(): row for row, digest in enumerate(file["digests"])}
            return ShippedVectors(str(file["model"]), rows, file["values"], file["scales"])
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as damage:
        raise BadEmbedding(
            "The file of demo vectors cannot be read.", hint=REBUILD, detail=type(damage).__name__
        ) from None


def write_vectors(model: str, texts: Sequence[str], vectors: np.ndarray, path: Path = FILE) -> None:
    """Eight bits a value, scaled per row: a quarter of float32, and cosines stay within 0.001 (a test measures it)."""
    width = int(np.flatnonzero(vectors.any(axis=0))[-1]) + 1
    scales = np.abs(vectors).max(axis=1) / 127
    values = np.round(vectors[:, :width] / scales[:, None]).astype(np.int8)
    digests = np.array([np.frombuffer(_digest(text), dtype=np.uint8) for text in texts])
    np.savez_compressed(path, model=np.array(model), digests=digests, values=values, scales=scales.astype(np.float32))


def foreign_vectors(texts: Iterable[str]) -> np.ndarray:
    """Unit vectors (n, 768) that no model made, the same everywhere: for the rows that play another model's."""
    raw = [np.frombuffer(hashlib.shake_256(text.encode()).digest(2 * DIMENSIONS), dtype="<i2") for text in texts]
    vectors = np.array(raw, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()
