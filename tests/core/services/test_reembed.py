"""Chunks of another model, embedded again: what it takes, that it is done once, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.errors import ConflictError, Forbidden, InputError
from core.events.actor import ai, run_as
from core.jobs.job import JobRunning
from core.memory.requests import SearchRequest
from core.services.reembed import SERVICE_MODEL, ReembedService
from tests.support.dialogs import SpyEmbedder, body

if TYPE_CHECKING:
    from core.local.server import Endpoint


@pytest.fixture
def spy() -> SpyEmbedder:
    return SpyEmbedder()


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint, spy: SpyEmbedder) -> Any:
    with build_core(read_settings(env), endpoint=endpoint, embedder=spy, background=False) as core:
        yield core


def ingest_as(core: Core, spy: SpyEmbedder, model: str, *keys: str, messages: int = 6) -> None:
    spy.model = model
    for key in keys:
        core.ingest.ingest(body(key, messages=messages))
    spy.model = "test:768"
    spy.batches.clear()


def test_what_it_would_take(desk: Core, spy: SpyEmbedder) -> None:
    """Rows, characters, an estimate of the tokens, time as measured on a few texts; nothing written."""
    ingest_as(desk, spy, "other:768", "k1", "k2")
    desk.ingest.ingest(body("k3"))
    spy.batches.clear()
    found = desk.reembed.preview(measure=False)
    assert (found.model, found.chunks, found.minutes, found.cost_usd) == ("test:768", 28, None, None)
    assert not found.paid and not found.confirm and not spy.texts
    assert [(m.model, m.chunks, m.dialogs, m.recent) for m in found.models] == [("other:768", 28, 2, 28)]
    rows = desk.db.sample(
        "client_memory_chunks", "id,text", order="id", limit=100, where={"embedding_model": "other:768"}
    )
    assert found.characters == sum(len(row["text"]) for row in rows)
    assert found.tokens == -(-found.characters // 4)
    measured = desk.reembed.preview()
    assert measured.minutes is not None and measured.minutes > 0 and len(spy.texts) == 17
    assert desk.reembed.preview("k1", measure=False).chunks == 14


def test_it_is_done_once_and_searchable(desk: Core, spy: SpyEmbedder) -> None:
    """Every row of another model or none, once; the vectors are the model's; the age of a text does not change."""
    ingest_as(desk, spy, "other:768", "k1", "k2")
    before = {row["id"]: row for row in rows_of(desk)}
    job = desk.jobs.finish_here(desk.reembed.start().id)
    assert job.state == "done" and job.result and (job.result["written"], job.result["passed_over"]) == (28, 0)
    assert (job.done, job.total) == (28, 28)
    assert len(spy.texts) == 28 and max(map(len, spy.batches)) <= 32
    after = {row["id"]: row for row in rows_of(desk)}
    assert {row["embedding_model"] for row in after.values()} == {"test:768"}
    for id, row in after.items():
        assert row["updated_at"] == before[id]["updated_at"] and row["text"] == before[id]["text"]
    assert desk.search.search(SearchRequest("k1", "trust")).searchable == 14
    with pytest.raises(InputError, match="no chunk"):
        desk.reembed.start()
    assert desk.events.flush()
    event = next(e for e in desk.events.store.query().rows if e.type == "ChunksReembedded")
    assert (event.payload["count"], event.payload["from_model"], event.payload["to_model"]) == (
        28,
        "other:768",
        "test:768",
    )


def test_one_dialog_alone(desk: Core, spy: SpyEmbedder) -> None:
    """The others keep what they have."""
    ingest_as(desk, spy, "other:768", "k1", "k2")
    desk.jobs.finish_here(desk.reembed.start(dialog_key="k1").id)
    assert desk.dialogs.overview().by_model == {"test:768": 14, "other:768": 14}


def test_a_second_start_names_the_first(desk: Core, spy: SpyEmbedder) -> None:
    """One at a time, whatever its scope; the same form is the same job."""
    ingest_as(desk, spy, "other:768", "k1")
    form = "11111111-2222-3333-4444-555555555555"
    assert desk.reembed.start(id=form).id == desk.reembed.start(id=form).id == form
    with pytest.raises(JobRunning):
        desk.reembed.start(dialog_key="k1")
    assert desk.reembed.preview().running is not None


def test_stopped_and_taken_up_again(desk: Core, spy: SpyEmbedder, dsn: str) -> None:
    """What was embedded is not embedded again: the next run goes on along the ids."""
    ingest_as(desk, spy, "other:768", *(f"k{n}" for n in range(10)), messages=80)
    job = desk.reembed.start()
    spy.before = lambda: desk.jobs.cancel(job.id) if len(spy.batches) == 3 else None
    stopped = desk.jobs.finish_here(job.id)
    spy.before = None
    assert stopped.state == "cancelled" and stopped.result and 0 < stopped.result["written"] < 880
    done = desk.jobs.finish_here(desk.reembed.start().id)
    assert (done.result or {})["written"] == 880 - stopped.result["written"]
    assert len(spy.texts) == 880


def test_a_text_that_changed_meanwhile_keeps_what_it_has(desk: Core, spy: SpyEmbedder, dsn: str) -> None:
    """Its vector would be that of the old text; it is passed over and said so."""
    ingest_as(desk, spy, "other:768", "k1")

    def change() -> None:
        with psycopg.connect(dsn, autocommit=True) as direct:
            direct.execute("update client_memory_chunks set text = text || ' now' where source_id = 'm1'")

    spy.before = change
    job = desk.jobs.finish_here(desk.reembed.start().id)
    spy.before = None
    assert job.result and (job.result["written"], job.result["passed_over"]) == (13, 1)
    assert desk.dialogs.overview().by_model == {"test:768": 13, "other:768": 1}


def test_the_model_changed_between_start_and_work(desk: Core, spy: SpyEmbedder) -> None:
    """The job was agreed to for one model, and is not done with another."""
    ingest_as(desk, spy, "other:768", "k1")
    job = desk.reembed.start()
    spy.model = "third:768"
    failed = desk.jobs.finish_here(job.id)
    assert failed.state == "failed" and (failed.error or {})["code"] == "conflict"


def test_beside_the_existing_service_somebody_has_to_agree(desk: Core, spy: SpyEmbedder) -> None:
    """Hosted, rows of the service's model, written lately: its searches would lose them. Old rows need no yes."""
    ingest_as(desk, spy, SERVICE_MODEL, "k1")
    from core.jobs.jobs import Jobs

    jobs = Jobs(desk.db, desk.events, desk.settings.data_dir)
    hosted = ReembedService(desk.db, lambda: spy, desk.events, jobs, hosted=True)
    assert "another writer" in (hosted.preview().confirm or "")
    with pytest.raises(ConflictError, match="another writer"):
        hosted.start()
    assert hosted.start(confirmed=True).kind == "reembed"
    assert desk.reembed.preview().confirm is None, "not on the embedded database"


def test_a_paid_model_has_a_price_or_says_that_it_has_none(desk: Core, spy: SpyEmbedder) -> None:
    """Unknown is not free, and no text is sent to be measured."""
    ingest_as(desk, spy, "other:768", "k1")
    from core.jobs.jobs import Jobs

    spy.model = SERVICE_MODEL
    jobs = [Jobs(desk.db, desk.events, desk.settings.data_dir) for _ in range(2)]
    unpriced = ReembedService(desk.db, lambda: spy, desk.events, jobs[0], hosted=False).preview()
    assert unpriced.paid and unpriced.cost_usd is None and unpriced.minutes is None and not spy.texts
    priced = ReembedService(
        desk.db, lambda: spy, desk.events, jobs[1], hosted=False, price=lambda model: Decimal("0.15")
    ).preview()
    assert priced.cost_usd == Decimal("0.15") * priced.tokens / 1_000_000


def test_an_ai_may_not(desk: Core) -> None:
    """Until a policy says so."""
    with run_as(ai("m", "M", mission_id="1", iteration_id="1", rationale="r")), pytest.raises(Forbidden):
        desk.reembed.preview()


def rows_of(core: Core) -> list[dict[str, Any]]:
    columns = "id,text,embedding_model,updated_at"
    return core.db.sample("client_memory_chunks", columns, order="id", limit=1000)
