"""A photo into words, end to end: a local web server, a local Gemini, the embedded Supabase."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from pydantic import SecretStr

from core.errors import DatabaseUnavailable, Forbidden
from core.events.actor import ai, run_as
from core.jobs import JobRunning
from core.photos.fetch import PhotoRefused
from core.photos.service import PhotoService
from core.photos.vision import GeminiVision, VisionFailed, VisionMissing
from tests.core.photos.fake_vision import FakeVision
from tests.core.photos.web import Web, png
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core
    from core.local.server import Endpoint


@pytest.fixture
def core(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    """Without background threads: jobs are done where the test says so."""
    from core.bootstrap import build_core
    from core.config import read_settings
    from core.embedding.test import TestEmbedder

    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as built:
        yield built


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web()
    yield made
    made.close()


@pytest.fixture
def desk(core: Core, web: Web) -> Iterator[Callable[..., tuple[PhotoService, FakeVision]]]:
    """Photos of this core, with that web and a Gemini with this script."""
    made: list[Any] = []

    def open_desk(*script: str | int, **options: Any) -> tuple[PhotoService, FakeVision]:
        fake = FakeVision(*script)
        vision = GeminiVision(SecretStr("k"), "gemini-2.5-flash", base_url=fake.url, pause_s=0.01, timeout_s=8)
        made.extend((fake, vision))
        core.jobs._kinds.pop("photos", None)  # the core has one that may not look
        given = {"vision": vision, "fetcher": web.fetcher(), **options}
        return PhotoService(core.db, core.events, core.clock, core.embedder, core.jobs, **given), fake

    yield open_desk
    for each in made:
        each.close()


def _ingest(core: Core, web: Web, key: str = "k1", path: str = "/p.png") -> None:
    core.ingest.ingest(body(key, photoUrl=web.url(path)))


def test_a_photo_gets_its_words(core: Core, web: Web, desk: Callable[..., Any], dsn: str) -> None:
    """A chunk beside the one with the URL, found by search; neither is superseded; the flag is gone; an event."""
    photos, fake = desk()
    _ingest(core, web)
    (photo,) = photos.waiting().rows
    described = photos.describe(photo)
    assert described.text.startswith("Photo shows: A man with a grey dog.") and described.added and described.snapshot
    assert fake.images()[0].startswith(b"\xff\xd8")
    assert photos.waiting().total == 0 and photos.waiting().photos == 1
    rows = core.dialogs.chunks("k1", source="photo").rows
    assert {row.text for row in rows} == {f"Main profile photo is available: {web.url()}", described.text}
    assert {row.source_id for row in rows} == {web.url()} and not any(row.superseded or row.flags for row in rows)
    assert {row.embedding_model for row in rows} == {"test:768"}
    from core.memory.requests import parse_search

    hits = core.search.search(parse_search({"dialogKey": "k1", "query": described.text})).hits
    assert hits[0].text == described.text
    assert core.events.flush()
    (event,) = core.events.store.query(type="PhotoDescribed").rows
    assert event.payload["dialog_key"] == "k1" and web.url() not in str(event.payload)


def test_its_snapshot_holds_both(core: Core, web: Web, desk: Callable[..., Any], dsn: str) -> None:
    """{url, vision} under the day; a row of upstream stays as it is, and the chunk stands all the same."""
    photos, _ = desk()
    _ingest(core, web)
    (photo,) = photos.waiting().rows
    photos.describe(photo)
    with psycopg.connect(dsn) as connection:
        (payload,) = connection.execute("select payload from tips_daily_entity_snapshots").fetchall()[0]
        assert payload["url"] == web.url() and payload["vision"]["hooks"] == ["Ask for the dog's name", "winter walks"]
        connection.execute("delete from tips_daily_entity_snapshots")
        connection.execute(
            "insert into tips_daily_entity_snapshots"
            " (sync_date, dialog_key, entity_type, source_role, source_id, payload, content_hash) values"
            " ((now() at time zone 'UTC')::date, 'k1', 'photo', 'ru', 'ru', '{\"url\": \"theirs\"}', 'h')"
        )
    again = photos.describe(photo)
    assert again.snapshot is False and again.added is False
    with psycopg.connect(dsn) as connection:
        assert connection.execute("select payload from tips_daily_entity_snapshots").fetchall() == [
            ({"url": "theirs"},)
        ]


def test_a_second_ingest_leaves_the_words(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """The line with the URL comes again each time; it makes no description old."""
    photos, _ = desk()
    _ingest(core, web)
    photos.describe(photos.waiting().rows[0])
    _ingest(core, web)
    assert photos.waiting().total == 0
    assert not any(row.flags for row in core.dialogs.chunks("k1", source="photo").rows)


def test_an_upload_instead(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """Nothing is fetched; the chunk is still that of the URL."""
    photos, _ = desk()
    core.ingest.ingest(body("k1", photoUrl="http://10.0.0.1/p.png"))
    (photo,) = photos.waiting().rows
    photos.describe(photo, upload=png(kind="WEBP"))
    assert web.asked == [] and photos.waiting().total == 0
    with pytest.raises(PhotoRefused):
        photos.describe(photo, upload=b"no image")


def test_off_without_consent(core: Core) -> None:
    """The action is there and says what is missing; nothing leaves the machine."""
    core.ingest.ingest(body())
    (photo,) = core.photos.waiting().rows
    for act in (lambda: core.photos.describe(photo), core.photos.start):
        with pytest.raises(VisionMissing) as caught:
            act()
        assert "MEMORY_DESK_PHOTO_ANALYSIS=on" in str(caught.value) and "BESCO_GEMINI_API_KEY" in str(caught.value)


def test_a_key_alone_is_no_consent(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """Nor is the switch alone a key."""
    from core.bootstrap import build_core
    from core.config import read_settings

    for extra, missing in (
        ({"BESCO_GEMINI_API_KEY": "k"}, ("MEMORY_DESK_PHOTO_ANALYSIS=on",)),
        ({"MEMORY_DESK_PHOTO_ANALYSIS": "on"}, ("BESCO_GEMINI_API_KEY",)),
        ({"MEMORY_DESK_PHOTO_ANALYSIS": "on", "BESCO_GEMINI_API_KEY": "k"}, ()),
    ):
        with build_core(read_settings({**env, **extra}), endpoint=endpoint, background=False) as built:
            assert built.photos.missing == missing


def test_an_ai_may_not(core: Core, desk: Callable[..., Any], web: Web) -> None:
    """It has no role of its own."""
    photos, fake = desk()
    _ingest(core, web)
    actor = ai("m", "Model", mission_id="1", iteration_id="1", rationale="why")
    with run_as(actor), pytest.raises(Forbidden):
        photos.describe(photos.waiting().rows[0])
    assert fake.requests == []


@pytest.mark.parametrize("step", ["blocked", "safety"])
def test_a_refusal_writes_nothing(core: Core, web: Web, desk: Callable[..., Any], step: str) -> None:
    """Neither chunk nor snapshot; the failure is noted."""
    photos, _ = desk(step)
    _ingest(core, web)
    with pytest.raises(Exception, match="photo"):
        photos.describe(photos.waiting().rows[0])
    assert photos.waiting().total == 1 and core.dialogs.chunks("k1", source="photo").total == 1
    assert core.events.flush() and core.events.store.query(type="PhotoFailed").rows


def test_all_of_them_as_a_job(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """One after the other; what fails is counted and passed over, and the next run meets only that."""
    photos, fake = desk("ok", "safety", "ok")
    for n in range(4):
        _ingest(core, web, f"k{n}", "/p.png" if n != 2 else "/gone.png")
    job = photos.start()
    with pytest.raises(JobRunning):
        photos.start()
    job = core.jobs.finish_here(job.id)
    assert job.state == "done" and job.result is not None
    assert job.result["described"] == 2 and sum(job.result["failed"].values()) == 2
    assert set(job.result["failed"]) == {"photo_unreachable", "vision_refused"}
    assert photos.waiting().total == 2 and len(fake.requests) == 3


def test_a_job_stops_when_it_is_not_the_photos(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """Five failures in a row that a retry might heal: the service is down, the rest is left for later."""
    photos, _ = desk(*[500] * 60)
    for n in range(7):
        _ingest(core, web, f"k{n}")
    job = photos.start()
    core.jobs._worker.run_one(job.id)
    job = core.jobs.get(job.id)
    assert job.state != "done" and not job.cursor and photos.waiting().total == 7


def test_tokens_are_counted(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """Each look is told with what it cost, also where nothing could be stored."""
    told: list[tuple[str, int]] = []
    photos, _ = desk(tokens=lambda key, look: told.append((key, look.prompt_tokens)))
    _ingest(core, web)
    photos.describe(photos.waiting().rows[0])
    assert told == [("k1", 300)]


def test_a_database_that_goes_away_between(
    core: Core, web: Web, desk: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing half done: it can be described again."""
    photos, _ = desk()
    _ingest(core, web)
    photo = photos.waiting().rows[0]

    def gone(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("away")

    with monkeypatch.context() as away:
        away.setattr(type(core.db), "rpc", gone)
        with pytest.raises(DatabaseUnavailable):
            photos.describe(photo)
    assert photos.describe(photo).added


def test_failures_say_nothing_of_the_photo(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """Neither its address nor what was answered."""
    photos, _ = desk(*["prose"] * 3)
    _ingest(core, web)
    with pytest.raises(VisionFailed) as caught:
        photos.describe(photos.waiting().rows[0])
    assert "photos.example" not in str(caught.value) and "I see" not in str(caught.value)
