"""Writes of the chunk table: absent and stale, one transaction, counted truly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest

from core.embedding.test import TestEmbedder
from core.memory.chunks import Chunk, build_chunks
from core.memory.payload import normalise
from core.memory.store import ChunkStore, Owner, Written, chunk_rows
from tests.support.dialogs import ODD_KEY, body

if TYPE_CHECKING:
    from core.bootstrap import Core


@pytest.fixture
def store(core: Core) -> ChunkStore:
    return ChunkStore(core.db)


def owner(key: str = "k1") -> Owner:
    return Owner(key, "ru-1", "tu-9", "fav-1", "both")


def chunks(key: str = "k1") -> list[Chunk]:
    return build_chunks(normalise(body(key)))[0]


def rows(key: str = "k1", model: str = "test:768") -> list[dict]:
    made = chunks(key)
    vectors = TestEmbedder().embed_documents([c.text for c in made])
    return chunk_rows(owner(key), made, {c.content_hash: v for c, v in zip(made, vectors, strict=True)}, model)


def test_absent_then_present_then_stale_for_another_model(store: ChunkStore) -> None:
    """A hash that exists only under another model is stale, not absent and not known."""
    hashes = [c.content_hash for c in chunks()]
    assert store.missing_hashes("k1", hashes, "test:768").absent == set(hashes)
    assert store.write(owner(), rows(), {"note": 2}) == Written(len(hashes), 0)
    known = store.missing_hashes("k1", hashes, "test:768")
    assert (known.absent, known.stale) == (frozenset(), frozenset())
    assert store.missing_hashes("k1", hashes, "other:768").stale == set(hashes)


def test_writing_again_adds_nothing(store: ChunkStore) -> None:
    """The unique key holds, and what was only embedded anew is counted as that."""
    number = len(rows())
    store.write(owner(), rows(), {})
    assert store.write(owner(), rows(), {}).added == 0
    assert store.write(owner(), rows(model="other:768"), {}) == Written(0, number)
    assert store.counts(["k1"]) == {"k1": number}


def test_a_row_the_database_refuses_takes_the_whole_batch_with_it(store: ChunkStore, dsn: str) -> None:
    """One transaction: a bad last row leaves no row and no stamp behind."""
    spoiled = rows()
    spoiled[-1]["direction"] = "sideways"
    with pytest.raises(Exception):  # noqa: B017  which class is the business of core.db
        store.write(owner(), spoiled, {"note": 2})
    with psycopg.connect(dsn) as direct:
        assert direct.execute("select count(*) from client_memory_chunks").fetchone() == (0,)
        assert direct.execute("select count(*) from desk_dialog_sources").fetchone() == (0,)


def test_columns_arrive_as_the_spec_has_them(store: ChunkStore, dsn: str) -> None:
    """Ids, mode, tags, metadata, dates; the vector to six decimals; no language."""
    store.write(owner(), rows(), {})
    with psycopg.connect(dsn) as direct:
        found = direct.execute(
            "select client_id, woman_id, favorite_id, compose_mode, embedding_model, language, note_date::text, tags,"
            " metadata, embedding::text, text from client_memory_chunks where source = 'note' and source_id = 'n1'"
        ).fetchone()
    assert found is not None
    assert found[:7] == ("ru-1", "tu-9", "fav-1", "both", "test:768", None, "2026-05-10")
    assert found[7] == ["note", "trust"]
    assert found[8] == {"originalChunkId": "note:n1:1", "scoreAtIngestion": None}
    stored = np.array([float(x) for x in found[9].strip("[]").split(",")])
    assert np.allclose(stored, TestEmbedder().embed_query(found[10]), atol=1e-6)


def test_an_odd_key_is_a_key_like_any_other(store: ChunkStore) -> None:
    """Written, counted and looked up without being taken for anything else."""
    store.write(owner(ODD_KEY), rows(ODD_KEY), {})
    assert store.counts([ODD_KEY, "k1"]) == {ODD_KEY: len(rows(ODD_KEY)), "k1": 0}
    assert not store.missing_hashes(ODD_KEY, [c.content_hash for c in chunks(ODD_KEY)], "test:768").absent


def test_a_sample_holds_what_hashes_are_made_of_and_no_embedding(store: ChunkStore) -> None:
    """Bounded, and without the large column."""
    store.write(owner(), rows(), {})
    sample = store.sample(3)
    assert len(sample) == 3
    assert set(sample[0]) == {
        "id",
        "dialog_key",
        "content_hash",
        "client_id",
        "woman_id",
        "source",
        "source_id",
        "text",
    }
