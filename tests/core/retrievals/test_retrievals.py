"""Reports of wrong context, retention, lists: through the core, on the real database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.errors import Forbidden, InputError, NotFound
from core.events.actor import Actor, run_as
from core.memory.requests import AcrossRequest, SearchRequest
from tests.support.dialogs import ODD_KEY, body


def searched(core: Core, query: str = "trust", key: str = ODD_KEY, request_id: str | None = None) -> str:
    """Ids of the record that this search left."""
    core.search.search(SearchRequest(key, query, request_id=request_id))
    return core.retrievals.store.list().rows[0].id


def test_lists_are_paged_and_total(core: Core) -> None:
    """Newest first, every filter before the limit, totals of all pages."""
    core.ingest.ingest(body(ODD_KEY))
    for n in range(7):
        searched(core, f"query {n}")
    searched(core, "nothing there", "nobody")
    store = core.retrievals.store
    pages = [store.list(dialog_key=ODD_KEY, limit=3, offset=at) for at in (0, 3, 6)]
    assert [row.query for page in pages for row in page.rows] == [f"query {n}" for n in range(6, -1, -1)]
    assert {page.total for page in pages} == {7}
    assert [row.query for row in store.list(outcome="empty").rows] == ["nothing there"]
    assert store.list(outcome="fallback").total == 0
    totals = store.totals()
    assert (totals.records, totals.empty, totals.reported, totals.days) == (8, 1, 0, 30)
    assert store.totals(ODD_KEY).records == 7


def test_from_a_chunk_and_never(core: Core) -> None:
    """The queries that found a chunk, with its place; and the chunks that none found."""
    core.ingest.ingest(body(ODD_KEY, messages=20))
    record = core.retrievals.store.get(searched(core))
    assert record is not None
    first = record.chunks[0]
    found = core.retrievals.store.list(chunk_id=first.id)
    assert [(row.id, row.chunk_rank) for row in found.rows] == [(record.id, 1)]
    never = core.retrievals.store.never(ODD_KEY, limit=5)
    assert never.total == never.chunks - len(record.chunks) == sum(never.by_source.values())
    assert (never.records, len(never.rows)) == (1, 5)
    assert not {row["id"] for row in never.rows} & {chunk.id for chunk in record.chunks}


def test_report_and_withdraw(core: Core) -> None:
    """A report is an event with its actor, said twice it is one, and it can be taken back."""
    core.ingest.ingest(body(ODD_KEY))
    id = searched(core, request_id="r/1")
    first = core.retrievals.report(id, 1, "stale")
    assert core.retrievals.report(id, 1, "stale") == first
    second = core.retrievals.report(id, 2, "boost")
    assert core.retrievals.store.list(outcome="reported").rows[0].reports == 2
    core.retrievals.withdraw(first)
    core.retrievals.withdraw(first)
    page = core.retrievals.store.wrong(dialog_key=ODD_KEY)
    assert [(row.id, row.withdrawn_at is not None) for row in page.rows] == [(second, False), (first, True)]
    assert page.by_reason == {"boost": 1}
    assert core.retrievals.store.wrong(standing=True).total == 1
    events = [e for e in core.events.store.query().rows if e.type.startswith("WrongContext")]
    assert [e.type for e in events] == ["WrongContextWithdrawn", "WrongContextReported", "WrongContextReported"]
    assert events[-1].payload["reason"] == "stale"
    assert events[-1].payload["request_id"] == "r/1"
    assert events[-1].actor.kind == "user"


def test_refusals(core: Core) -> None:
    """An unknown reason, a record or chunk that is not there, days out of range, an AI without a grant."""
    core.ingest.ingest(body(ODD_KEY))
    id = searched(core)
    for reason, rank, error in (("because", 1, InputError), ("stale", 99, NotFound)):
        with pytest.raises(error):
            core.retrievals.report(id, rank, reason)
    for nothing in ("x", "0f2b7c1e-1111-4222-8333-94a5b6c7d8e9"):
        with pytest.raises(NotFound):
            core.retrievals.report(nothing, 1, "stale")
        with pytest.raises(NotFound):
            core.retrievals.withdraw(nothing)
    for days in (0, 401, True):
        with pytest.raises(InputError):
            core.retrievals.keep_days(days)
    with (
        run_as(Actor("ai", "helper", "Helper", mission_id="m", iteration_id="i", rationale="because")),
        pytest.raises(Forbidden),
    ):
        core.retrievals.keep_days(5)


def test_retention(core: Core, dsn: str) -> None:
    """Older records go in batches, the report of one stays; the setting is an event."""
    core.ingest.ingest(body(ODD_KEY))
    old = searched(core, "old")
    core.retrievals.report(old, 1, "irrelevant")
    searched(core, "new")
    with psycopg.connect(dsn) as connection:
        connection.execute("update memory_retrievals set at = at - interval '20 days' where query = 'old'")
    assert core.retrievals.prune() == 0
    core.retrievals.keep_days(10)
    assert core.retrievals.prune() == 1
    assert [row.query for row in core.retrievals.store.list().rows] == ["new"]
    [report] = core.retrievals.store.wrong().rows
    assert (report.recorded, report.reason) == (False, "irrelevant")
    [event] = [e for e in core.events.store.query().rows if e.type == "RetrievalRetentionChanged"]
    assert event.payload == {"days": 10, "before_days": 30}


def test_erasure_overrides_retention(core: Core) -> None:
    """Records, chunks and reports of a person go; of a search over all dialogs the row and the words, not the rest."""
    core.ingest.ingest(body(ODD_KEY))
    core.ingest.ingest(body("other", notes=("Something about a kayak.",)))
    id = searched(core, "trust")
    core.retrievals.report(id, 1, "stale")
    searched(core, "kayak", "other")
    core.search.across(AcrossRequest("he worries about trust", limit=24))
    core.events.flush()
    whole = core.retrievals.store.list().rows[0]
    assert whole.scope == "all"
    core.erasures.erase(ODD_KEY, "request")
    rows = core.retrievals.store.list().rows
    assert {row.dialog_key for row in rows} == {"other", None}
    left = core.retrievals.store.get(whole.id)
    assert left is not None
    assert left.query is None
    assert {chunk.dialog_key for chunk in left.chunks} == {"other"}
    assert core.retrievals.store.wrong().total == 0
    with pytest.raises(NotFound):
        core.replays.replay(left)


def test_a_record_that_comes_too_late(core: Core) -> None:
    """A search that began before the erasure and is recorded after it leaves nothing."""
    core.ingest.ingest(body(ODD_KEY))
    result = core.search.search(SearchRequest(ODD_KEY, "trust"))
    core.events.flush()
    core.erasures.erase(ODD_KEY, "request")
    recorder = core.retrievals.recorder
    recorder._clock = FixedClock(datetime.now(UTC) - timedelta(minutes=1))
    assert recorder.record(SearchRequest(ODD_KEY, "trust"), result, result.hits) is None
    assert core.retrievals.store.totals().records == 0
