"""Hashed word counts: the 128-dimensional fallback of the existing service, and the terms used for word matching.

The vector is neither pgvector nor semantic and is never stored. It equals what the service's JavaScript computes, so
it treats U+02BC as a letter and the other two apostrophes as gaps. Where Ukrainian words must match whichever
apostrophe was typed, fold first: `lexical_vector(fold_apostrophes(text))`, or compare `lexical_terms`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import numpy as np

LEXICAL_DIMENSIONS = 128

_RUN = re.compile(r"[^\W_]+")
_APOSTROPHES = re.compile("['\u2019\u02bc]")
_INNER_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’ʼ](?=[^\W\d_])")


def lexical_vector(text: str) -> np.ndarray:
    """Counts of the words' FNV-1a hashes modulo 128, L2-normalised, six decimals: float64 (128,), zeros for no word.

    Source: spec/memory.md section 5; equal to the golden values of the existing backend.
    """
    counts = np.zeros(LEXICAL_DIMENSIONS)
    for word in _RUN.findall(text.lower()):
        counts[_fnv1a(word) % LEXICAL_DIMENSIONS] += 1
    length = np.linalg.norm(counts)
    return np.round(counts / length, 6) if length else counts


def lexical_cosine(query: np.ndarray, texts: np.ndarray) -> np.ndarray:
    """Cosine of one lexical vector (128,) with each row of (n, 128); 0 where either holds no word."""
    lengths = np.linalg.norm(texts, axis=1) * np.linalg.norm(query)
    return np.divide(texts @ query, lengths, out=np.zeros(len(texts)), where=lengths > 0)


def fold_apostrophes(text: str) -> str:
    """U+0027, U+2019 and U+02BC become one: U+02BC, a letter, inside a word, and U+0027, a gap, anywhere else."""
    return _INNER_APOSTROPHE.sub("ʼ", _APOSTROPHES.sub("'", text))


def lexical_terms(text: str) -> list[str]:
    """The text's words for matching, in reading order: composed (NFC), lower-cased, the three apostrophes equal."""
    return _RUN.findall(fold_apostrophes(unicodedata.normalize("NFC", text)).lower())


@lru_cache(maxsize=50_000)
def _fnv1a(word: str) -> int:
    """32-bit FNV-1a over UTF-16 code units, as JavaScript's charCodeAt walks a string."""
    units = np.frombuffer(word.encode("utf-16-le", "surrogatepass"), dtype="<u2").tolist()
    value = 0x811C9DC5
    for unit in units:
        value = (value ^ unit) * 0x01000193 & 0xFFFFFFFF
    return value
