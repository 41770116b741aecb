"""Ingest end to end against the embedded database: exact results, nothing twice, nothing half."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from core.embedding.provider import Embedder
from core.errors import (
    BadEmbedding,
    CoreError,
    DatabaseUnavailable,
    IncompatibleRows,
    InputError,
    MissingIdentity,
    ProviderMissing,
    ProviderUnavailable,
)
from core.events.actor import user
from core.memory.keys import both_keys
from core.memory.store import ChunkStore
from core.services.ingest import IngestService
from tests.support.acting import as_operator
from tests.support.dialogs import ODD_KEY, BrokenEmbedder, SpyEmbedder, body, message

if TYPE_CHECKING:
    from core.bootstrap import Core

TIPS, GENERIC = both_keys("ru-1", "tu-9")


def service(core: Core, embedder: Embedder) -> IngestService:
    return IngestService(ChunkStore(core.db), lambda: embedder, core.events)


def table(dsn: str, columns: str = "*") -> list[tuple]:
    with psycopg.connect(dsn) as direct:
        return direct.execute(f"select {columns} from client_memory_chunks order by content_hash").fetchall()


def test_the_result_is_the_specs(core: Core) -> None:
    """inserted and totalChunks both count what was produced, also when all of it was there; ours come beside."""
    first = core.ingest.ingest(body("k1")).as_json()
    sources = {"profile": 5, "photo": 1, "note": 2, "conversation": 6}
    assert first == {
        "favoriteId": "fav-1",
        "dialogKey": "k1",
        "inserted": 14,
        "sources": sources,
        "totalChunks": 14,
        "added": 14,
        "unchanged": 0,
        "reembedded": 0,
        "warnings": [],
    }
    again = core.ingest.ingest(body("k1")).as_json()
    assert again == {**first, "added": 0, "unchanged": 14}


def test_no_chunks_gives_the_message_form(core: Core) -> None:
    """A payload without anything to remember is no error."""
    answer = core.ingest.ingest({"dialogKey": "k1", "conversationJson": {"id": "fav-9"}}).as_json()
    warnings = answer.pop("warnings")
    assert answer == {
        "favoriteId": "fav-9",
        "inserted": 0,
        "message": "No memory chunks were produced from the payload.",
        "totalChunks": 0,
    }
    assert {w["field"] for w in warnings} >= {"profile", "conversation", "notes", "photo"}


def test_only_new_content_is_embedded(core: Core, dsn: str) -> None:
    """The same ingest embeds nothing and rewrites no row; one new message costs one vector."""
    spy = SpyEmbedder()
    ingest = service(core, spy)
    ingest.ingest(body("k1"))
    rows = table(dsn, "id, updated_at")
    spy.batches.clear()
    ingest.ingest(body("k1"))
    assert spy.batches == []
    assert table(dsn, "id, updated_at") == rows
    ingest.ingest(body("k1", messages=7))
    assert spy.batches == [["message number 7 about topic 0"]]


def test_texts_are_embedded_32_at_a_time_with_progress(core: Core) -> None:
    """No call holds more than 32 texts; progress counts up to the end of both stages."""
    spy, seen = SpyEmbedder(), []
    service(core, spy).ingest(body("k1", messages=80), progress=lambda *step: seen.append(step))
    assert [len(batch) for batch in spy.batches] == [32, 32, 24]
    assert seen == [("embed", 32, 88), ("embed", 64, 88), ("embed", 88, 88), ("write", 88, 88)]


def test_rows_of_another_model_are_embedded_again(core: Core, dsn: str) -> None:
    """A hash that exists only under another model is stale: re-embedded in place, no second row."""
    service(core, SpyEmbedder("former:768")).ingest(body("k1"))
    result = core.ingest.ingest(body("k1"))
    assert (result.added, result.reembedded, result.unchanged) == (0, 14, 0)
    assert {model for (model,) in table(dsn, "embedding_model")} == {"test:768"}
    assert len(table(dsn)) == 14


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (ProviderUnavailable("The embedder crashed."), ProviderUnavailable),
        (lambda vectors: vectors[:-1], BadEmbedding),
        (lambda vectors: vectors[:, :100], BadEmbedding),
        (lambda vectors: np.full_like(vectors, np.nan), BadEmbedding),
        (lambda vectors: np.zeros_like(vectors), BadEmbedding),
    ],
    ids=["crash", "a vector too few", "another dimension", "not finite", "zeros"],
)
def test_a_failing_embedder_writes_nothing(core: Core, dsn: str, fault: Any, error: type[CoreError]) -> None:
    """A typed bad-gateway error, no row, and an event that says where it failed but none of the text."""
    with pytest.raises(error) as failed:
        service(core, BrokenEmbedder(fault)).ingest(body("k1"))
    assert failed.value.status == 502
    assert table(dsn) == []
    assert core.events.flush()
    event = core.events.store.query(type="IngestFailed").rows[0]
    assert event.payload == {"dialog_key": "k1", "stage": "embed", "error_class": error.__name__}


def test_without_an_embedder_nothing_is_written(core: Core, dsn: str) -> None:
    """The error says which variable to set."""

    def none() -> Embedder:
        raise ProviderMissing("No embedder is configured.", hint="Set BESCO_GEMINI_API_KEY to use Gemini.")

    with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY"):
        IngestService(ChunkStore(core.db), none, core.events).ingest(body("k1"))
    assert table(dsn) == []


def test_an_edited_message_stands_beside_the_older_one(core: Core) -> None:
    """Nothing is deleted: the older text is flagged superseded; an emptied message is dropped with a warning."""
    edits = ["see you at five", "see you at six", ""]
    for text in edits:
        result = core.ingest.ingest(body("k1", messages=0, notes=()) | _one_message(text))
        assert bool(text) or any("conversation" in w.field for w in result.warnings)
    page = core.dialogs.chunks("k1", source="conversation")
    assert {row.text: "superseded" in row.flags for row in page.rows} == {edits[0]: True, edits[1]: False}
    assert page.flag_counts["superseded"] == 1


def _one_message(text: str) -> dict[str, Any]:
    sent = {"id": "m7", "body": text, "sent_at": "2026-11-04T12:00:00Z", "is_incoming": True}
    return {"conversationJson": {"messages": [sent]}}


def test_invisible_messages_do_not_spoil_the_batch(core: Core) -> None:
    """Bodies that show nothing are dropped with a warning; the 40 others are written."""
    blank = ["\u200b", "\u2060\ufe0f", "\u3000", "\u00ad"]
    messages = [message(n) for n in range(1, 41)] + [message(50 + n, text) for n, text in enumerate(blank)]
    spy = SpyEmbedder()
    result = service(core, spy).ingest({"dialogKey": "k1", "conversationJson": {"messages": messages}})
    assert result.sources == {"conversation": 40}
    assert len(spy.texts) == 40
    assert any(w.field.startswith("conversation") for w in result.warnings)


def test_an_odd_dialog_key_is_ingested_and_found(core: Core) -> None:
    """Quotes, commas, slashes, percent and plus signs: this dialog and only it."""
    core.ingest.ingest(body("k"))
    result = core.ingest.ingest(body(ODD_KEY))
    assert (result.dialog_key, result.added) == (ODD_KEY, 14)
    assert core.dialogs.status([ODD_KEY, "k"])[ODD_KEY].chunks == 14
    assert core.dialogs.get(ODD_KEY) is not None


def test_eight_ingests_of_one_dialog_at_once(core: Core, dsn: str) -> None:
    """In one process and in eight, as far as the database can tell: no duplicate, no failure, added once in all."""
    for ingests in ([core.ingest] * 8, [service(core, SpyEmbedder()) for _ in range(8)]):
        key = f"k{id(ingests)}"
        start = threading.Barrier(8)

        def run(ingest: IngestService, key: str = key, start: threading.Barrier = start) -> int:
            start.wait()
            return ingest.ingest(body(key, messages=40)).added

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(as_operator(run), ingests)) == 48
    assert len(table(dsn)) == 96


def test_many_new_rows_are_written_500_at_a_time(core: Core, dsn: str) -> None:
    """Each call is a transaction of its own; the stamp of the ingest comes with the last."""
    notes = [f"Note number {n} about subject {n * 7}." for n in range(1, 1101)]
    seen: list[tuple] = []
    payload = {"notes": [{"id": f"n{n}", "text": text} for n, text in enumerate(notes)]}
    core.ingest.ingest({"dialogKey": "k1", "conversationJson": payload}, progress=lambda *step: seen.append(step))
    assert [step for step in seen if step[0] == "write"] == [("write", n, 1100) for n in (500, 1000, 1100)]
    assert len(table(dsn)) == 1100


def test_a_failure_between_two_transactions_is_completed_by_a_second_try(
    core: Core, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was committed stays and is not embedded again; the error says how much that is."""
    payload = {"notes": [{"id": f"n{n}", "text": f"Note number {n}."} for n in range(700)]}
    request = {"dialogKey": "k1", "conversationJson": payload}
    store, spy = ChunkStore(core.db), SpyEmbedder()
    original, calls = store.write, []

    def fail_second(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise DatabaseUnavailable("Can't reach the memory database.", hint="Retry in a moment.")
        return original(*arguments)

    monkeypatch.setattr(store, "write", fail_second)
    ingest = IngestService(store, lambda: spy, core.events)
    with pytest.raises(DatabaseUnavailable, match="500 of 700 new chunks are stored; ingest again for the rest"):
        ingest.ingest(request)
    assert len(table(dsn)) == 500
    spy.batches.clear()
    assert ingest.ingest(request).added == 200
    assert len(spy.texts) == 200
    assert len(table(dsn)) == 700


def test_uploads_go_under_the_key_that_has_rows(core: Core) -> None:
    """Else under the tips key; a key of one's own is kept; the result says which and why."""
    fresh = core.ingest.preview(body(None))
    assert (fresh.dialog_key, fresh.key_order) == (TIPS, "tips")
    assert core.ingest.ingest(body(None)).dialog_key == GENERIC
    uploaded = core.ingest.ingest(body(None), upload=True)
    assert (uploaded.dialog_key, uploaded.key_order, uploaded.added) == (GENERIC, "generic", 0)
    assert "14 chunks there" in uploaded.key_reason
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    both = core.ingest.ingest(body(None), upload=True)
    assert both.dialog_key == TIPS
    assert "14 more stand under the other order" in both.key_reason
    assert core.ingest.ingest(body("mine"), upload=True).dialog_key == "mine"


def test_a_preview_writes_nothing_and_says_what_is_new(core: Core, dsn: str) -> None:
    """New, stale and unchanged chunks are told apart; nothing is embedded."""
    spy = SpyEmbedder()
    ingest = service(core, spy)
    assert ingest.preview(body("k1")).count("new") == 14
    assert (table(dsn), spy.batches) == ([], [])
    ingest.ingest(body("k1"))
    preview = ingest.preview(body("k1", messages=8))
    assert (preview.count("new"), preview.count("unchanged"), preview.count("stale")) == (2, 14, 0)
    assert service(core, SpyEmbedder("other:768")).preview(body("k1")).count("stale") == 14


def test_rows_of_another_formula_are_not_written_beside(core: Core, dsn: str) -> None:
    """Where another writer's hashes differ from ours, ingest is refused with the reason and nothing is written."""
    core.ingest.ingest(body("k1"))
    with psycopg.connect(dsn) as direct:
        direct.execute("update client_memory_chunks set content_hash = md5(content_hash)")
    with pytest.raises(IncompatibleRows) as refused:
        service(core, SpyEmbedder()).ingest(body("k2"))
    assert refused.value.status == 409
    assert len(table(dsn)) == 14


def test_the_event_names_the_actor_and_holds_no_text(core: Core) -> None:
    """DialogIngested: who, which dialog, how many; ids, names and texts are not in it."""
    core.ingest.ingest(body("k1"), actor=user("token:crm", "CRM", ("operator",)))
    assert core.events.flush()
    event = core.events.store.query(type="DialogIngested").rows[0]
    assert event.actor.principal_id == "token:crm"
    assert event.payload["added"] == 14
    assert event.payload["by_source"] == {"profile": 5, "photo": 1, "note": 2, "conversation": 6}
    assert not any(word in repr(event) for word in ("ru-1", "tu-9", "Taras", "trust", "topic"))


HOSTILE: dict[str, Callable[[], dict[str, Any]]] = {
    "nulls everywhere": lambda: {
        "conversationJson": {"favorite": None, "messages": [None, {}, [], "x", 5], "notes": None}
    },
    "wrong types": lambda: {"conversationJson": {"messages": {"a": 1}, "notes": 7, "profile": [1], "data": "x"}},
    "NUL, surrogates, rtl, zalgo": lambda: {
        "conversationJson": {"messages": [message(1, "a\0b\ud800c \u202eevil Z̷̢̛a̶͜l̸g̵o")], "notes": ["\udfff"]}
    },
    "nonsense dates": lambda: {
        "conversationJson": {
            "messages": [{**message(n), "sent_at": when} for n, when in enumerate(["soon", -1e300, {}, "2026-13-45"])],
            "notes": [{"text": "x", "date": "yesterday"}, {"text": "y", "date": 9e99}],
        }
    },
    "ids that repeat and hold colons": lambda: {
        "conversationJson": {"messages": [{**message(n), "id": "a:b:c"} for n in range(3)] * 2}
    },
    "a note of one long word": lambda: {"conversationJson": {"notes": [{"id": 1, "text": "x" * 5000}]}},
    "100,000 messages": lambda: {"conversationJson": {"messages": [message(n) for n in range(100_000)]}},
    "deep nesting": lambda: {"conversationJson": {"messages": _nested(5000)}},
    "JSON in text": lambda: {"conversationJson": json.dumps({"messages": [message(1)]})},
}


def _nested(depth: int) -> list:
    value: list = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_payloads_are_ingested_right_or_refused(core: Core, dsn: str, name: str) -> None:
    """A warning and a correct ingest, or an error that names the field; twice the same; never half."""
    spy = SpyEmbedder()
    ingest = service(core, spy)
    request = {"dialogKey": "k1", **HOSTILE[name]()}
    try:
        result = ingest.ingest(request)
    except InputError as refused:
        assert refused.field
        assert table(dsn) == []
        return
    assert len(table(dsn)) == result.total_chunks <= 80
    assert all(len(text) <= 420 for text in spy.texts)
    json.dumps(result.as_json(), allow_nan=False).encode()
    assert ingest.ingest(request).added == 0


@pytest.mark.parametrize(
    ("request_", "error", "field"),
    [
        ({}, InputError, "conversationJson"),
        ({"conversationJson": "{not json"}, InputError, "conversationJson"),
        ({"conversationJson": 12}, InputError, "conversationJson"),
        ({"dialogKey": "k", "conversationJson": {}, "profileJson": "]["}, InputError, "profileJson"),
        ({"dialogKey": ["k"], "conversationJson": {}}, InputError, "dialogKey"),
        ({"conversationJson": {"messages": [message(1)]}}, MissingIdentity, "ruId"),
        ({"clientId": "c", "conversationJson": {"messages": [message(1)]}}, MissingIdentity, "womanId"),
    ],
)
def test_an_unusable_request_names_its_field(
    core: Core, request_: dict[str, Any], error: type[InputError], field: str
) -> None:
    """400 or 422, the field, and an event of the failure."""
    with pytest.raises(error) as refused:
        core.ingest.ingest(request_)
    assert refused.value.field == field
    assert core.events.flush()
    assert core.events.store.query(type="IngestFailed").rows[0].payload["stage"] == "normalize"
