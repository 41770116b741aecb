"""An embedder for tests: the same vectors in every process, at no cost, near where texts share words."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from core.embedding.lexical import lexical_terms
from core.embedding.provider import DIMENSIONS

TRIGRAM_WEIGHT = 0.35  # below 1 so that whole words decide; above 0 so that "worry" is near "worries"


class TestEmbedder:
    """Signed hashing of words and their character trigrams. Knows no meaning: a paraphrase is far away."""

    __test__ = False  # for pytest: this is no test class
    name = f"test:{DIMENSIONS}"
    dimensions = DIMENSIONS

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32).reshape(-1, DIMENSIONS)

    def embed_query(self, text: str) -> np.ndarray:
        vector = np.zeros(DIMENSIONS)
        for word in lexical_terms(text):
            places, weights = _features(word)
            np.add.at(vector, places, weights)
        length = float(np.linalg.norm(vector))
        if not length:  # no words, or they cancel out: still a unit vector, far from all others
            places, _ = _features("\0" + text)
            vector[places[0]], length = 1.0, 1.0
        return (vector / length).astype(np.float32)

    def close(self) -> None:
        pass


@lru_cache(maxsize=50_000)
def _features(word: str) -> tuple[np.ndarray, np.ndarray]:
    padded = f"<{word}>"
    parts = [word] + [padded[i : i + 3] + "~" for i in range(len(padded) - 2)]
    hashes = [zlib.crc32(part.encode("utf-8", "surrogatepass")) for part in parts]
    weights = [1.0] + [TRIGRAM_WEIGHT] * (len(parts) - 1)
    signed = [weight if h >> 16 & 1 else -weight for weight, h in zip(weights, hashes, strict=True)]
    return np.array([h % DIMENSIONS for h in hashes]), np.array(signed)
