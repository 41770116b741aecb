"""A photo into words, end to end: a local web server, a local Gemini, the embedded Supabase."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from core.errors import DatabaseUnavailable, Forbidden
from core.events import run_as
from core.events.actor import ai
from core.photos.fetch import PhotoRefused
from core.photos.vision import VisionFailed
from tests.core.photos.web import Web, ingest, png
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core


def test_a_photo_gets_its_words(core: Core, web: Web, desk: Callable[..., Any], dsn: str) -> None:
    """A chunk beside the one with the URL, found by search; neither is superseded; the flag is gone; an event."""
    photos, fake = desk()
    ingest(core, web)
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
    ingest(core, web)
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
    ingest(core, web)
    photos.describe(photos.waiting().rows[0])
    ingest(core, web)
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


def test_an_ai_may_not(core: Core, desk: Callable[..., Any], web: Web) -> None:
    """It has no role of its own."""
    photos, fake = desk()
    ingest(core, web)
    actor = ai("m", "Model", mission_id="1", iteration_id="1", rationale="why")
    with run_as(actor), pytest.raises(Forbidden):
        photos.describe(photos.waiting().rows[0])
    assert fake.requests == []


@pytest.mark.parametrize("step", ["blocked", "safety"])
def test_a_refusal_writes_nothing(core: Core, web: Web, desk: Callable[..., Any], step: str) -> None:
    """Neither chunk nor snapshot; the failure is noted."""
    photos, _ = desk(step)
    ingest(core, web)
    with pytest.raises(Exception, match="photo"):
        photos.describe(photos.waiting().rows[0])
    assert photos.waiting().total == 1 and core.dialogs.chunks("k1", source="photo").total == 1
    assert core.events.flush() and core.events.store.query(type="PhotoFailed").rows


def test_tokens_are_counted(core: Core, web: Web, desk: Callable[..., Any]) -> None:
    """Each look is told with what it cost, also where nothing could be stored."""
    told: list[tuple[str, int]] = []
    photos, _ = desk(tokens=lambda key, look: told.append((key, look.prompt_tokens)))
    ingest(core, web)
    photos.describe(photos.waiting().rows[0])
    assert told == [("k1", 300)]


def test_a_database_that_goes_away_between(
    core: Core, web: Web, desk: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing half done: it can be described again."""
    photos, _ = desk()
    ingest(core, web)
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
    ingest(core, web)
    with pytest.raises(VisionFailed) as caught:
        photos.describe(photos.waiting().rows[0])
    assert "photos.example" not in str(caught.value) and "I see" not in str(caught.value)
