"""The test embedder: the same everywhere, and near where words are shared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from core.embedding.test import TestEmbedder

ROOT = Path(__file__).parents[3]


def test_same_in_another_process() -> None:
    """Python's hash seed has no influence: another process computes the same values."""
    code = (
        "from core.embedding.test import TestEmbedder\nprint(repr(TestEmbedder().embed_query('сім’я, tea').tobytes()))"
    )
    for seed in ("0", "77"):
        answer = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.strip() == repr(TestEmbedder().embed_query("сім’я, tea").tobytes())


def test_shared_words_matter() -> None:
    """More shared words are nearer, an inflected word is nearer than none, strangers are far."""
    embedder = TestEmbedder()
    query = embedder.embed_query("he worries about trust")
    same, two, inflected, none = (
        embedder.embed_documents(["About trust he worries!", "he worries", "worry, trusting", "Полуниця коштує дорого"])
        @ query
    )
    assert same > 0.99
    assert same > two > inflected > none
    assert abs(none) < 0.15


def test_always_a_unit_vector() -> None:
    """Also for empty and wordless texts, which stay distinct."""
    embedder = TestEmbedder()
    vectors = embedder.embed_documents(["", "!!!", "\ud800", "a", "слово"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert embedder.embed_documents([]).shape == (0, 768)
    assert embedder.name == "test:768"
