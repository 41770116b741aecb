"""Replays: other weights, another model, nothing recorded, words erased; nothing of a replay is itself recorded."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import NotFound
from core.memory.payload import normalise
from core.memory.query import build_query
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.retrieval import Profile
from core.retrievals.record import Retrieval
from core.services.replay import ReplayService
from tests.support.dialogs import ODD_KEY, SpyEmbedder, body, message

REQUEST = "0f2b7c1e-1111-4222-8333-94a5b6c7d8e9"


def searched(core: Core, query: str = "topic 3", **more: Any) -> Retrieval:
    core.search.search(SearchRequest(ODD_KEY, query, **more))
    found = core.retrievals.store.get(core.retrievals.store.list().rows[0].id)
    assert found is not None
    return found


def used(core: Core, dialog_key: str | None, at: str) -> None:
    entry = {"provider": "p", "model": "m", "phase": "context", "totalTokens": 3, "at": at}
    core.usage.record({"requestId": REQUEST, "dialogKey": dialog_key, "entries": [entry]})
    core.usage.recorder.flush()


def test_other_weights_are_named(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the recorded weights today's rows are the recorded ones; what the active profile changes is `weights`."""
    core.ingest.ingest(body(ODD_KEY, messages=30))
    record = searched(core, "a walk by the river", limit=2)
    monkeypatch.setattr(core.replays, "_active", lambda: Profile("flat", 2, {"conversation": 1.0}))
    found = core.replays.replay(record)
    assert [hit.id for hit in found.before] == [chunk.id for chunk in record.chunks]
    assert [hit.weighted_score for hit in found.before] == pytest.approx([chunk.score for chunk in record.chunks])
    assert found.differs == ("weights",)
    assert {drift.changes for drift in found.drift if drift.then is None} == {("weights",)}
    assert ("weights",) in {drift.changes for drift in found.drift if drift.then is not None}
    assert core.retrievals.store.totals().records == 1


def test_other_rules(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile of other rules is named, and its words are fetched."""
    core.ingest.ingest(body(ODD_KEY))
    record = searched(core)
    active = replace(core.search.active_profile(), fusion=0.3)
    monkeypatch.setattr(core.replays, "_active", lambda: active)
    found = core.replays.replay(record)
    assert found.differs == ("profile",)
    assert any(hit.lexical for hit in found.hits)


def test_another_model(core: Core) -> None:
    """With another embedder no recorded chunk is comparable, and each says so."""
    core.ingest.ingest(body(ODD_KEY))
    record = searched(core)
    service = ReplayService(
        core.db,
        lambda: SpyEmbedder("other:768"),
        core.search.active_profile,
        core.search.words,
        core.retrievals.store,
        core.usage.reports,
        core.clock,
    )
    found = service.replay(record)
    assert found.differs == ("model",)
    assert {drift.changes for drift in found.drift} == {("model",)}
    assert found.hits == ()


def test_over_all_dialogs(core: Core) -> None:
    """A search over all dialogs is replayed over all of them."""
    core.ingest.ingest(body(ODD_KEY))
    core.search.across(AcrossRequest("trust", limit=3))
    record = core.retrievals.store.get(core.retrievals.store.list().rows[0].id)
    assert record is not None
    found = core.replays.replay(record)
    assert all(drift.same for drift in found.drift) and len(found.drift) == 3
    with pytest.raises(NotFound):
        core.replays.replay(replace(record, query=None))


def test_reconstructed_as_the_payload_would_ask(core: Core) -> None:
    """The query is the one that section 5 builds from the payload of that moment, long notes whole."""
    long = " ".join(f"Sentence {n} about the harbour and the boats in it." for n in range(14))
    made = body(ODD_KEY, messages=40, notes=("Short.", long))
    core.ingest.ingest(made)
    used(core, ODD_KEY, "2026-05-12T00:30:00+00:00")
    found = core.replays.reconstruct(REQUEST)
    assert found is not None and found.query is not None
    assert found.query == build_query(normalise(made))
    assert found.replayed is not None and found.replayed.hits
    assert all(drift.then is None for drift in found.replayed.drift)


def test_only_what_was_there_then(core: Core) -> None:
    """Messages and notes after the moment are not asked; chunks written since are marked as added."""
    made = body(ODD_KEY, messages=40)
    core.ingest.ingest(made)
    used(core, ODD_KEY, "2026-05-01T05:30:00+00:00")
    found = core.replays.reconstruct(REQUEST)
    assert found is not None and found.replayed is not None
    then = {**made["conversationJson"]["favorite"], "aiNotes": [], "allMessages": [message(n) for n in range(1, 6)]}
    assert found.query == build_query(normalise({"dialogKey": ODD_KEY, "conversationJson": {"favorite": then}}))
    assert {drift.changes for drift in found.replayed.drift} == {("added",)}


@pytest.mark.parametrize(("key", "why"), [(None, "belong to no dialog"), ("empty", "No message or note")])
def test_nothing_to_build_from(core: Core, key: str | None, why: str) -> None:
    """Calls of no dialog, and a dialog without a message of that moment."""
    used(core, key, "2026-05-01T00:00:00+00:00")
    found = core.replays.reconstruct(REQUEST)
    assert found is not None
    assert (found.query, found.replayed) == (None, None)
    assert why in found.why


def test_unknown_requests(core: Core) -> None:
    """No UUID, or one that no call has."""
    assert core.replays.reconstruct("r/1") is None
    assert core.replays.reconstruct(str(uuid.uuid4())) is None
    assert core.replays.usage("r/1") is None
    assert core.replays.usage(None) is None
