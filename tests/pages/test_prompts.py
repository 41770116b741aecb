"""Prompt audit: empty, a list, one record with its replay, reconstructed, reported, broken; texts as they are."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable, ProviderUnavailable
from core.memory.keys import both_keys
from core.memory.requests import AcrossRequest, SearchRequest
from core.retrievals.store import RetrievalStore
from core.services.replay import ReplayService
from pages._shared.prompts import reading
from pages._shared.session import DIALOG
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]
KEY = both_keys("ru-1", "tu-9")[0]
KEPT = "desk.kept."


def searched(core: Core, query: str = ODD, request_id: str | None = None, key: str = KEY) -> str:
    """The id of the record that this search left."""
    core.search.search(SearchRequest(key, query, request_id=request_id))
    return core.retrievals.store.list().rows[0].id


def frame(at: AppTest, column: str) -> Any:
    return next(d.value for d in at.dataframe if column in d.value)


def click(at: AppTest, label: str) -> AppTest:
    return next(b for b in at.button if b.label == label).click().run()


def test_empty(core: Core, open_page: Open) -> None:
    """Nothing recorded: why, and the request that would be."""
    said = texts(calm(open_page("prompts")))
    assert "Nothing is recorded yet" in said
    assert "/stack-ai/tips/memory/search" in said


def test_list(stored: Core, open_page: Open) -> None:
    """Newest first, words and pair as they are, what is odd in a remark; a filter by outcome counts all pages."""
    searched(stored)
    searched(stored, "nothing", key="nobody")
    stored.search.across(AcrossRequest("tea"))
    at = calm(open_page("prompts"))
    rows = frame(at, "query")
    assert list(rows["query"]) == ["tea", "nothing", ODD]
    assert list(rows["remark"]) == ["all dialogs", "nothing found", ""]
    assert rows["ru_id"].iloc[2] == "ru-1"
    assert list(rows["weights"]) == ["v1", "v1", "v1"]
    only = calm(open_page("prompts", query={"found": "empty"}))
    assert list(frame(only, "query")["query"]) == ["nothing"]
    assert "1 search" in texts(only)


def test_one_record(stored: Core, open_page: Open) -> None:
    """Recorded and replayed are both said, the text and the prompt block are character for character."""
    id = searched(stored, request_id="r/1")
    record = stored.retrievals.store.get(id)
    assert record is not None
    at = calm(open_page("prompts", query={"record": id}))
    said = texts(at)
    assert "Retrieved is not the same as used by the model" in said
    assert "Nothing is different: the same chunks at the same places." in said
    assert "recorded" in said and "replayed" in said
    assert record.prompt_block in [code.value for code in at.code]
    assert list(frame(at, "cosine")["text"]) == [chunk.text for chunk in record.chunks]
    assert ODD in [text.value for text in at.text]


def test_after_a_deletion(stored: Core, open_page: Open) -> None:
    """The record says the same as before; beside it stands what was deleted, and what came in its place."""
    id = searched(stored)
    record = stored.retrievals.store.get(id)
    assert record is not None
    stored.corrections.exclude([record.chunks[0].id], "stale", kind="deleted")
    at = calm(open_page("prompts", query={"record": id}))
    assert list(frame(at, "cosine")["text"]) == [chunk.text for chunk in record.chunks]
    drift = frame(at, "what")
    assert drift["what"].iloc[0] == "deleted since"
    assert "newly above the line" in list(drift["what"])
    assert "1 deleted since" in texts(at)


def test_twice_under_one_request(stored: Core, open_page: Open) -> None:
    """Both searches of one request id stand in the list, the newest first, and it says so."""
    searched(stored, "first", "r1")
    searched(stored, "second", "r1")
    at = calm(open_page("prompts", {f"{KEPT}{reading.REQUEST}": "r1"}))
    assert list(frame(at, "query")["query"]) == ["second", "first"]
    assert "2 searches were made under this one request" in texts(at)
    assert "r1" not in str(dict(at.query_params))


def test_reconstructed(stored: Core, open_page: Open) -> None:
    """A request known from its usage alone, its query built again, its tokens by phase."""
    request = str(uuid.uuid4())
    entry = {"provider": "gemini", "model": "a$b", "phase": "draft", "promptTokens": 10, "totalTokens": 12}
    stored.usage.record({"requestId": request, "dialogKey": KEY, "entries": [entry]})
    stored.usage.recorder.flush()
    at = calm(open_page("prompts", {f"{KEPT}{reading.REQUEST}": request}))
    said = texts(at)
    assert "reconstructed" in said
    assert any(ODD in str(text.value) for text in at.text)
    assert list(frame(at, "phase")["total"]) == [12]
    unknown = calm(open_page("prompts", {f"{KEPT}{reading.REQUEST}": "x"}))
    assert "Nobody knows this request" in texts(unknown)


def test_chunk_and_dialog(stored: Core, open_page: Open) -> None:
    """The searches that returned a chunk, with its place; of the dialog in hand what was never returned."""
    id = searched(stored, "topic 3")
    record = stored.retrievals.store.get(id)
    assert record is not None
    searched(stored, "nothing", key="nobody")
    by_chunk = calm(open_page("prompts", {f"{KEPT}{reading.CHUNK}": record.chunks[2].id}))
    assert list(frame(by_chunk, "place")["place"]) == [3]
    session = {DIALOG: (KEY, "ru-1", "tu-9"), f"{KEPT}{reading.ONLY}": True}
    mine = calm(open_page("prompts", session))
    assert list(frame(mine, "query")["query"]) == ["topic 3"]
    never = stored.retrievals.store.never(KEY)
    assert f"{never.total:,} of {never.chunks} chunks" in texts(mine)


def test_retention(stored: Core, open_page: Open) -> None:
    """Another number of days is saved as a decision."""
    searched(stored)
    at = calm(open_page("prompts"))
    next(n for n in at.number_input if n.label == "Days").set_value(12)
    click(at, "Save")
    assert stored.retrievals.store.totals().days == 12


def test_reports(stored: Core, open_page: Open) -> None:
    """A report stands beneath its record and in the list, and is taken back with a click."""
    id = searched(stored)
    stored.retrievals.report(id, 1, "boost")
    assert "is here only by its boost" in texts(calm(open_page("prompts")))
    at = calm(open_page("prompts", query={"record": id}))
    assert "is here only by its boost. Local operator" in texts(at)
    click(at, "Take back")
    assert stored.retrievals.store.wrong(standing=True).total == 0


def test_gone(stored: Core, open_page: Open) -> None:
    """A record beyond the retention, or an address that is none."""
    for id in (str(uuid.uuid4()), "x"):
        assert "This record is not there" in texts(calm(open_page("prompts", query={"record": id})))


def test_broken(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the database it says so; without an embedder the record stands and only the replay is missing."""
    id = searched(stored)

    def no_embedder(*_: object) -> None:
        raise ProviderUnavailable("The embedder does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(ReplayService, "replay", no_embedder)
        at = calm(open_page("prompts", query={"record": id}))
        assert "The replay cannot be shown" in texts(at)
        assert len(frame(at, "cosine")) == 12

    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("The memory database does not answer.")

    monkeypatch.setattr(RetrievalStore, "list", away)
    assert "Prompt audit cannot be shown" in texts(calm(open_page("prompts")))


def test_links_remember(monkeypatch: pytest.MonkeyPatch) -> None:
    """A link from another page replaces what an earlier one asked for."""
    kept: dict[str, object] = {}
    monkeypatch.setattr("pages._shared.session.st.session_state", kept)
    reading.ask_for_request("r1")
    reading.ask_for_chunk("c1")
    assert (kept[f"{KEPT}{reading.CHUNK}"], kept[f"{KEPT}{reading.REQUEST}"]) == ("c1", "")
    reading.ask_for_dialog()
    assert (kept[f"{KEPT}{reading.CHUNK}"], kept[f"{KEPT}{reading.ONLY}"]) == (None, True)
