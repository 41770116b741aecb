"""Switching what is embedded: its cost, its refusal, searches meanwhile, and that nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.errors import ConflictError, Forbidden, InputError
from core.events.actor import LOCAL_OPERATOR, ai, run_as
from core.jobs.job import Job, JobRunning
from core.memory.requests import AcrossRequest, SearchRequest
from core.services.other_writer import AnotherWriter
from core.services.reembed import SERVICE_MODEL
from core.usage.pricing import Price
from tests.support.dialogs import SpyEmbedder, body, message

if TYPE_CHECKING:
    from core.local.server import Endpoint

Direct = Callable[..., object]
PLAIN, SPEAKER = "test:768", "test:768+speaker"
MESSAGES = 6  # of the 14 chunks of one body


@pytest.fixture
def spy() -> SpyEmbedder:
    return SpyEmbedder()


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint, spy: SpyEmbedder) -> Iterator[Core]:
    with build_core(read_settings(env), endpoint=endpoint, embedder=spy, background=False) as core:
        yield core


@pytest.fixture
def direct(dsn: str) -> Iterator[Direct]:
    """SQL past the product, as anybody with a connection may send it."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield lambda sql, *values: connection.execute(sql, values)


@pytest.fixture
def theirs(direct: Direct) -> Callable[..., None]:
    """A row as the existing service writes it: straight into the table, no stamp of ours."""

    def write(days: int, key: str = "theirs") -> None:
        direct(
            "insert into client_memory_chunks"
            " (dialog_key, content_hash, favorite_id, source, source_id, text, embedding, embedding_model, created_at)"
            " values (%s, gen_random_uuid()::text, 'f', 'note', 'n', 'theirs',"
            " array_fill(0.1, array[768])::extensions.vector, %s, clock_timestamp() - make_interval(days => %s))",
            key,
            SERVICE_MODEL,
            days,
        )

    return write


@pytest.fixture
def filled(desk: Core, spy: SpyEmbedder) -> Core:
    for key in ("k1", "k2"):
        desk.ingest.ingest(body(key))
    spy.batches.clear()
    return desk


def switch(core: Core, target: str = "speaker") -> Job:
    return core.jobs.finish_here(core.recipe.start(target).id)


def models(core: Core) -> dict[str, int]:
    return dict(core.dialogs.overview().by_model)


def test_what_it_would_take(filled: Core, spy: SpyEmbedder) -> None:
    """Only messages are embedded again; the rest keeps its vector under the new name; nothing is written."""
    found = filled.recipe.preview("speaker", measure=False)
    assert (found.active, found.from_model, found.to_model) == ("plain", PLAIN, SPEAKER)
    assert (found.chunks, found.messages, found.to_embed) == (28, 12, 12)
    assert found.refused is None and found.minutes is None and not found.paid and not spy.texts
    characters = sum(len(message(n)["body"]) for n in range(1, MESSAGES + 1)) * 2
    assert characters // 4 <= found.tokens <= characters // 4 + 12 * 3
    assert filled.recipe.preview("speaker").minutes is not None
    with pytest.raises(InputError, match="no such recipe"):
        filled.recipe.preview("shouting")


def test_a_price_is_shown_where_one_is_known(filled: Core, spy: SpyEmbedder, direct: Direct) -> None:
    """USD from the price table for a paid model, and nothing is sent to be measured."""
    spy.model = SERVICE_MODEL
    start = datetime(2026, 1, 1, tzinfo=UTC)
    price = Price(
        "gemini", "gemini-embedding-001", start, Decimal("0.15"), None, source="list", source_date=start.date()
    )
    filled.usage.prices.set(LOCAL_OPERATOR, [price])
    direct("update client_memory_chunks set embedding_model = %s", SERVICE_MODEL)
    found = filled.recipe.preview("speaker")
    assert found.paid and found.cost_usd == Decimal("0.15") * found.tokens / 1_000_000 and not spy.texts


def test_the_switch(filled: Core, spy: SpyEmbedder) -> None:
    """Each message once, with its speaker; all chunks under the new name, their age as it was; the event of it."""
    before = {row["id"]: row for row in rows_of(filled)}
    job = switch(filled)
    assert job.state == "done" and job.result
    assert (job.result["chunks"], job.result["embedded"], job.result["left_over"]) == (28, 12, 0)
    assert len(spy.texts) == 12 and set(spy.texts) >= {
        "Taras: message number 1 about topic 1",
        "TU: message number 2 about topic 2",
    }
    assert models(filled) == {SPEAKER: 28} and filled.model() == SPEAKER and filled.recipe.active() == "speaker"
    assert all(row["updated_at"] == before[row["id"]]["updated_at"] for row in rows_of(filled))
    assert filled.search.search(SearchRequest("k1", "trust")).searchable == 14
    assert filled.db.sample("memory_recipe_vectors", "chunk_id", order="chunk_id", limit=5) == []
    event = next(e for e in filled.events.store.query().rows if e.type == "EmbeddingRecipeSwitched")
    assert (event.payload["chunks"], event.payload["embedded"], event.payload["to_model"]) == (28, 12, SPEAKER)
    with pytest.raises(InputError, match="already"):
        filled.recipe.start("speaker")


def test_there_and_back_gives_the_same_answers(filled: Core) -> None:
    """Going back restores ids and scores exactly."""
    request = SearchRequest("k1", "topic number 3")
    before = [(hit.id, hit.weighted_score) for hit in filled.search.search(request).hits]
    switch(filled)
    between = [(hit.id, hit.weighted_score) for hit in filled.search.search(request).hits]
    switch(filled, "plain")
    assert [(hit.id, hit.weighted_score) for hit in filled.search.search(request).hits] == before != between
    assert models(filled) == {PLAIN: 28}


def test_another_process_sees_the_switch_at_its_next_search(
    filled: Core, spy: SpyEmbedder, env: Mapping[str, str], endpoint: Endpoint
) -> None:
    """It knows the former name still, finds nothing under it, and asks which one is active: of each kind of search."""
    with build_core(read_settings(env), endpoint=endpoint, embedder=SpyEmbedder(), background=False) as other:
        for ask in (
            lambda: other.search.search(SearchRequest("k1", "trust")).hits,
            lambda: other.search.explore(SearchRequest("k1", "trust")).candidates.ids,
            lambda: other.search.across(AcrossRequest("trust")).hits,
        ):
            assert ask()
            other.recipe._setting.fresh()
            switch(filled, "plain" if filled.recipe.active() == "speaker" else "speaker")
            assert ask()
        assert other.model() == SPEAKER


def test_searches_go_on_meanwhile_and_a_killed_switch_goes_on(filled: Core, spy: SpyEmbedder) -> None:
    """Until the last message is done every search finds all rows under the old name; nothing is embedded twice."""
    for n in range(3, 10):
        filled.ingest.ingest(body(f"k{n}"))
    spy.batches.clear()
    job = filled.recipe.start("speaker")
    seen: list[int] = []

    def look() -> None:
        spy.before = None
        seen.append(filled.search.search(SearchRequest("k1", "trust")).searchable)
        spy.before = look
        if len(spy.batches) == 1:
            spy.before = None
            raise ConnectionResetError

    spy.before = look
    failed = filled.jobs.finish_here(job.id)
    assert failed.state == "failed" and seen == [14, 14] and models(filled) == {PLAIN: 126}
    assert filled.recipe.active() == "plain"
    assert filled.recipe.preview("speaker", measure=False).waiting == 32
    done = switch(filled)
    assert done.state == "done" and models(filled) == {SPEAKER: 126} and len(spy.texts) == 54


def test_what_is_ingested_meanwhile_is_not_missed(filled: Core, spy: SpyEmbedder) -> None:
    """A dialog written while messages are embedded gets its vectors before the switch."""
    job = filled.recipe.start("speaker")

    def write() -> None:
        spy.before = None
        filled.ingest.ingest(body("k3"))

    spy.before = write
    assert filled.jobs.finish_here(job.id).state == "done"
    assert models(filled) == {SPEAKER: 42}


def test_an_ingest_that_a_switch_overtook(filled: Core, spy: SpyEmbedder) -> None:
    """It wrote under the old name what it planned under it, sees that, and embeds it again."""

    def overtake() -> None:
        spy.before = None
        switch(filled)

    spy.before = overtake
    result = filled.ingest.ingest(body("k3"))
    assert (result.added, result.model) == (14, SPEAKER) and models(filled) == {SPEAKER: 42}


def test_an_ingest_under_the_recipe(filled: Core, spy: SpyEmbedder) -> None:
    """New messages get the name: of the payload's profile, else of the stored one; the same again adds nothing."""
    switch(filled)
    spy.batches.clear()
    later = body("k1", messages=8)
    del later["conversationJson"]["favorite"]["profile"]
    result = filled.ingest.ingest(later)
    assert (result.added, result.reembedded) == (2, 0)
    assert "Taras: message number 7 about topic 0" in spy.texts and len(spy.texts) == 2
    assert filled.ingest.ingest(later).added == 0


def test_both_sides_by_name(filled: Core, spy: SpyEmbedder) -> None:
    """TU by the newest snapshot of that profile, in a switch and in an ingest; a dialog without one has TU."""
    filled.snapshots.capture({"ruId": "ru-1", "tuId": "tu-9", "dialogKey": "k1", "profileTu": {"name": " Olena\nP. "}})
    switch(filled)
    assert {"Olena P.: message number 2 about topic 2", "TU: message number 2 about topic 2"} <= set(spy.texts)
    filled.ingest.ingest(body("k1", messages=8))
    assert "Olena P.: message number 8 about topic 1" in spy.texts


def test_rows_of_the_other_recipe_are_stale(filled: Core, spy: SpyEmbedder, direct: Direct) -> None:
    """A row of the former recipe is not compared, is shown as another model's, and re-embedding brings it back."""
    switch(filled)
    direct("update client_memory_chunks set embedding_model = %s where source_id = 'm1'", PLAIN)
    assert filled.search.search(SearchRequest("k1", "trust")).other_models == {PLAIN: 1}
    assert filled.reembed.preview(measure=False).chunks == 2
    spy.batches.clear()
    filled.jobs.finish_here(filled.reembed.start().id)
    assert spy.texts == ["Taras: message number 1 about topic 1"] * 2 and models(filled) == {SPEAKER: 28}


def test_refused_beside_another_writer(filled: Core, spy: SpyEmbedder, theirs: Callable[..., None]) -> None:
    """Its rows of the last 30 days are told by the missing record of an ingest; old ones and demo rows are not."""
    theirs(40)
    assert filled.recipe.preview("speaker", measure=False).refused is None
    theirs(3)
    found = filled.recipe.preview("speaker", measure=False)
    assert (found.writer.chunks, found.writer.dialogs) == (1, 1) and "Another writer is active" in (found.refused or "")
    with pytest.raises(AnotherWriter, match="would no longer match") as refusal:
        filled.recipe.start("speaker")
    assert refusal.value.status == 409 and refusal.value.code == "another_writer"


def test_refused_when_one_begins_during_the_switch(
    filled: Core, spy: SpyEmbedder, theirs: Callable[..., None], direct: Direct
) -> None:
    """Nothing is switched, searches go on; and going back to plain is never refused."""
    job = filled.recipe.start("speaker")
    spy.before = lambda: theirs(0) if not spy.batches else None
    failed = filled.jobs.finish_here(job.id)
    spy.before = None
    assert (failed.error or {})["code"] == "another_writer" and filled.recipe.active() == "plain"
    assert filled.search.search(SearchRequest("k1", "trust")).searchable == 14
    direct("delete from client_memory_chunks where dialog_key = 'theirs'")
    assert switch(filled).state == "done"
    theirs(0)
    assert switch(filled, "plain").state == "done"


def test_a_row_newer_than_the_last_ingest_of_its_dialog(filled: Core, theirs: Callable[..., None]) -> None:
    """In a dialog that we ingested too, whatever came after is somebody else's."""
    theirs(0, key="k1")
    assert filled.recipe.preview("speaker", measure=False).writer.chunks == 1


def test_never_beside_a_reembedding(filled: Core, spy: SpyEmbedder) -> None:
    """One at a time; the same form is the same job."""
    form = "11111111-2222-3333-4444-555555555555"
    assert filled.recipe.start("speaker", id=form).id == filled.recipe.start("speaker", id=form).id == form
    spy.model = "other:768"
    with pytest.raises(JobRunning):
        filled.reembed.start()
    assert filled.recipe.preview("speaker", measure=False).running is not None


def test_the_model_changed_between_start_and_work(filled: Core, spy: SpyEmbedder) -> None:
    """The switch was agreed to for one model."""
    job = filled.recipe.start("speaker")
    spy.model = "third:768"
    failed = filled.jobs.finish_here(job.id)
    assert (failed.error or {})["code"] == ConflictError.code


def test_an_empty_memory_switches_at_once(desk: Core) -> None:
    """Nothing to embed; what comes is of the recipe."""
    assert switch(desk).state == "done" and desk.model() == SPEAKER
    desk.ingest.ingest(body("k1"))
    assert models(desk) == {SPEAKER: 14}


def test_waiting_vectors_vanish_with_the_person(filled: Core, spy: SpyEmbedder, direct: Direct) -> None:
    """An erasure takes them along; a chunk that is gone leaves none behind."""
    job = filled.recipe.start("speaker")

    def stop() -> None:
        filled.jobs.cancel(job.id)

    spy.before = stop
    filled.jobs.finish_here(job.id)
    spy.before = None
    waiting = filled.db.count("memory_recipe_vectors")
    filled.erasures.erase("k1", "request")
    assert filled.db.count("memory_recipe_vectors") in (0, waiting - MESSAGES)
    direct("delete from client_memory_chunks")
    filled.db.rpc("desk_prune_recipe_vectors", {}, read=False)
    assert filled.db.count("memory_recipe_vectors") == 0


def test_an_ai_may_not(filled: Core) -> None:
    """Until a policy says so."""
    with run_as(ai("m", "M", mission_id="1", iteration_id="1", rationale="r")), pytest.raises(Forbidden):
        filled.recipe.start("speaker")


def rows_of(core: Core) -> list[dict[str, object]]:
    columns = "id,text,embedding_model,updated_at"
    return core.db.sample("client_memory_chunks", columns, order="id", limit=1000)
