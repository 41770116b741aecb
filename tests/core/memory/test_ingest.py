"""The stages of an ingest by themselves, without a database."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from core.errors import BadEmbedding, DatabaseUnavailable
from core.memory import ingest as conductor
from core.memory.chunks import Chunk
from core.memory.ingest import IngestResult, Plan
from core.memory.notices import Notice
from core.memory.store import ChunkStore, Owner, Written
from tests.support.dialogs import BrokenEmbedder, SpyEmbedder

OWNER = Owner("k1", "ru-1", "tu-9", "fav-1", "both")


def chunks(count: int) -> tuple[Chunk, ...]:
    return tuple(Chunk("note", f"n{n}", f"text {n}", f"hash{n}") for n in range(count))


class Recording:
    """A store that remembers what it was asked to write, and fails at one call."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.calls: list[dict[str, Any]] = []
        self._fail_at = fail_at

    def write(
        self, owner: Owner, rows: list[dict], seen: dict | None = None, seen_hashes: list | None = None
    ) -> Written:
        if len(self.calls) == self._fail_at:
            raise DatabaseUnavailable("Can't reach the memory database.", hint="Retry.")
        self.calls.append({"rows": len(rows), "seen": seen, "hashes": len(seen_hashes or [])})
        return Written(len(rows), 0)


def test_only_what_is_absent_or_stale_is_pending_in_payload_order() -> None:
    """Each chunk has one state."""
    plan = Plan(chunks(4), frozenset({"hash3"}), frozenset({"hash1"}))
    assert [chunk.source_id for chunk in plan.pending] == ["n1", "n3"]
    assert [plan.state(chunk) for chunk in plan.chunks] == ["unchanged", "stale", "unchanged", "new"]


def test_vectors_belong_to_their_texts_over_batches() -> None:
    """70 texts in three calls; each vector is that of its own text."""
    spy = SpyEmbedder()
    plan = Plan(chunks(70), frozenset(f"hash{n}" for n in range(70)), frozenset())
    vectors = conductor.embed(spy, plan)
    assert [len(batch) for batch in spy.batches] == [32, 32, 6]
    for chunk in plan.chunks:
        assert np.array_equal(vectors[chunk.content_hash], spy.embed_query(chunk.text))


def test_a_short_batch_is_refused() -> None:
    """A vector must never land beside another text."""
    plan = Plan(chunks(3), frozenset({"hash0", "hash1", "hash2"}), frozenset())
    with pytest.raises(BadEmbedding):
        conductor.embed(BrokenEmbedder(lambda vectors: vectors[1:]), plan)


def write(store: Recording, plan: Plan) -> Written:
    vectors = {chunk.content_hash: np.ones(768, dtype=np.float32) for chunk in plan.pending}
    return conductor.write(cast(ChunkStore, store), OWNER, plan, vectors, "test:768")


def test_the_stamp_comes_with_the_last_batch() -> None:
    """Until then the ingest has not been seen whole; the hashes of all its chunks go with it."""
    store = Recording()
    plan = Plan(chunks(1200), frozenset(f"hash{n}" for n in range(100, 1200)), frozenset())
    assert write(store, plan) == Written(1100, 0)
    assert [call["rows"] for call in store.calls] == [500, 500, 100]
    assert [call["seen"] for call in store.calls] == [None, None, {"note": 1200}]
    assert [call["hashes"] for call in store.calls] == [0, 0, 1200]


def test_an_unchanged_ingest_is_stamped_without_rows() -> None:
    """One call that writes no chunk."""
    store = Recording()
    assert write(store, Plan(chunks(3), frozenset(), frozenset())) == Written(0, 0)
    assert store.calls == [{"rows": 0, "seen": {"note": 3}, "hashes": 3}]


@pytest.mark.parametrize(("fail_at", "says"), [(0, "Retry."), (1, "500 of 600 new chunks are stored; ingest again")])
def test_a_failure_says_what_is_stored(fail_at: int, says: str) -> None:
    """After a first whole transaction the hint counts it; before that there is nothing to count."""
    with pytest.raises(DatabaseUnavailable) as failed:
        write(Recording(fail_at), Plan(chunks(600), frozenset(f"hash{n}" for n in range(600)), frozenset()))
    assert failed.value.hint.startswith(says)


def test_dropping_system_messages_is_no_warning() -> None:
    """A system message is a notice for the preview; a missing part is a warning."""
    notices = (Notice("conversation", "System.", "system"), Notice("photo", "The payload has no photo URL.", "missing"))
    result = IngestResult("f", "k", {"note": 1}, 1, 1, 0, 0, notices)
    assert result.warnings == notices[1:]
    assert result.as_json()["warnings"] == [{"field": "photo", "message": "The payload has no photo URL."}]
