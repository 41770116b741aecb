"""The demo's recorded searches: three hundred, of requests with usage, as a replay finds them again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.bootstrap import Core
from core.memory.store import ChunkStore
from core.services import demo as module
from core.services.demo_content import demo_dialogs
from core.services.demo_history import write_history
from core.services.demo_retrievals import NUMBER, demo_queries, demo_retrievals
from core.services.demo_vectors import read_vectors

NOW = datetime.now(UTC)


@pytest.fixture
def loaded(core: Core) -> Core:
    """The demo's dialogs with their chunks; nothing of its history."""
    vectors = read_vectors()
    for dialog in demo_dialogs(NOW):
        for ingest in dialog.ingests:
            ChunkStore(core.db).write(ingest.owner, module._rows_of(ingest, vectors), {})
    return core


def test_three_hundred(loaded: Core) -> None:
    """Newest ones of today, oldest within the retention; most found a dozen, a few nothing or by words."""
    dialogs = demo_dialogs(NOW)
    list(write_history(loaded.db, dialogs, NOW))
    store = loaded.retrievals.store
    totals = store.totals()
    assert totals.records == totals.requests == NUMBER
    assert 3 <= totals.empty <= 30 and 3 <= totals.fallback <= 30
    assert loaded.retrievals.prune() == 0
    page = store.list(limit=100)
    assert len({row.dialog_key for row in page.rows}) > 20
    assert sum(row.results == 12 for row in page.rows) > 80
    record = next(full for row in page.rows if (full := store.get(row.id)) and full.results and not full.fallback)
    assert record.block_is_whole
    stored = {chunk.id: chunk.text for chunk in loaded.dialogs.chunks_by_id([c.id for c in record.chunks])}
    assert stored == {chunk.id: chunk.text for chunk in record.chunks}
    assert loaded.replays.usage(record.request_id) is not None


def test_the_same_again(loaded: Core) -> None:
    """A load that is completed later writes the same records once; removing the demo takes them."""
    dialogs = demo_dialogs(NOW)
    first, second = (demo_retrievals(loaded.db, dialogs, NOW) for _ in range(2))
    assert first == second
    for _ in range(2):
        loaded.db.rpc("desk_record_retrievals", {"p_records": first[:50]}, read=False)
    assert loaded.retrievals.store.totals().records == 50
    loaded.demo.remove()
    assert loaded.retrievals.store.totals().records == 0


def test_every_query_has_a_vector() -> None:
    """The shipped file knows every query of the demo: none is left out of the records."""
    from core.services.demo_retrievals import _query_vectors

    asked = {query for queries in demo_queries(demo_dialogs(NOW)).values() for query in queries}
    vectors = _query_vectors()
    assert asked <= set(vectors)
    assert {vector.shape for vector in vectors.values()} == {(768,)}
