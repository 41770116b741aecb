"""The memory as a module: its day, its tools with what a model sees of them, and what can be taken back."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.memory.keys import both_keys
from core.memory.requests import SearchRequest
from core.services.snapshots import SnapshotService
from tests.support.companion import Office, agent
from tests.support.dialogs import body

KEY = "the-dialog"


@pytest.fixture
def office(core: Core) -> Office:
    return Office(core, core.clock.now() + timedelta(seconds=5))


@pytest.fixture
def stored(office: Office) -> Office:
    office.core.ingest.ingest(body(KEY))
    return office


def test_the_day(stored: Office) -> None:
    """Chunks, ingests, searches with their latency, those that found nothing, and the hour before now."""
    for key in (KEY, KEY, "nothing-there"):
        stored.core.search.search(SearchRequest(key, "chess"))
    day = stored.day()["memory"]
    assert (day["dialogs"], day["ingests"], day["searches"], day["fallbacks"]) == (1, 1, 3, 0)
    assert day["total_chunks"] == sum(day["by_source"].values()) > 5
    assert day["p95_ms"] >= day["p50_ms"] > 0
    assert (day["empty_percent"], day["fallback_percent"]) == (33.3, 0.0)
    assert day["hour"]["searches"] == 3 and day["stale_model_chunks"] == 0 and day["ambiguous_dialogs"] == 0
    assert (day["never_ingested"], day["written_elsewhere_6h"]) == ([], 0)


def test_both_key_orders_are_detected(office: Office) -> None:
    """A pair with chunks under both orders is one, and the next look after a merge knows of it."""
    office.core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    office.core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9"))
    assert office.day()["memory"]["ambiguous_dialogs"] == 1
    nudge: Any = office.rule("key-ambiguity").check(office.context())
    assert nudge.priority == "high" and "both" in nudge.body
    office.core.merges.merge(*both_keys("ru-1", "tu-9"))
    office.clock.at += timedelta(seconds=1)
    office.modules["memory"].handlers["DialogKeysMerged"](None)  # type: ignore[arg-type]
    office.clock.at += timedelta(seconds=1)
    assert office.day()["memory"]["ambiguous_dialogs"] == 0
    assert office.rule("key-ambiguity").check(office.context()) is None


def test_chunks_of_another_model(stored: Office) -> None:
    """Counted at most once an hour, and noted; on the next hour anew."""
    stored.day()
    stored.core.db.rpc("companion_note_figures", {
        "p_day": f"{stored.desk.today()}", "p_values": {"memory.stale_chunks": 7},
        "p_at": (stored.clock.at + timedelta(seconds=1)).isoformat()}, read=False)  # fmt: skip
    stored.clock.at += timedelta(minutes=10)
    assert stored.day()["memory"]["stale_model_chunks"] == 7
    stored.clock.at += timedelta(hours=1)
    assert stored.day()["memory"]["stale_model_chunks"] == 0


def test_a_dialog_that_was_never_ingested(office: Office) -> None:
    """It has snapshots, a search finds nothing: the rule says so once a day and offers the ingest."""
    office.core.snapshots.capture(
        {"dialogKey": KEY, "ruId": "r", "tuId": "t", "notes": [{"text": "x", "date": "2026-11-01"}]}
    )
    woken: list[Any] = []
    office.core.events.on("SearchEmpty", woken.append)
    for key in (KEY, "unknown"):
        office.core.search.search(SearchRequest(key, "chess"))
    office.core.events.flush()
    found = [office.rule("empty-dialog").check(office.context(event)) for event in woken]
    assert [n and n.action_params for n in found] == [{"dialog_key": KEY, "payload_ref": "snapshot:latest"}, None]  # type: ignore[union-attr]
    resolves = office.rule("empty-dialog").resolves
    assert resolves is not None and not resolves(office.context(), found[0].id)  # type: ignore[union-attr]
    office.core.ingest.ingest(body(KEY))
    assert resolves(office.context(), found[0].id)  # type: ignore[union-attr]


def test_a_model_never_sees_a_text(stored: Office) -> None:
    """The full result has the texts, its form for a model ids, sources, scores and dates; the same for why."""
    stored.core.ingest.ingest(body(None, ruId="ru-planted", tuId="tu-planted"))
    tips, _ = both_keys("ru-planted", "tu-planted")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_memory", {"dialog_key": tips, "query": "river walks"}),
        ("explain_search", {"dialog_key": tips, "query": "river walks", "limit": "3"}),
        ("dialog_status", {"ru_id": "ru-planted", "tu_id": "tu-planted"}),
        ("resolve_dialog_key", {"ru_id": "ru-planted", "tu_id": "tu-planted"}),
        ("memory_status", {}),
    ]
    for name, params in calls:
        result = stored.call(name, actor=agent(), **params)
        assert result.success, (name, result.message)
        seen = json.dumps(result.llm_data) + result.message
        assert not [w for w in ("river", "Lviv", "chess", tips, "ru-planted", "tu-planted", "1.jpg") if w in seen], name
    found = stored.call("search_memory", actor=agent(), dialog_key=tips, query="river walks")
    assert "river" in json.dumps(found.data) and set(found.llm_data[0]) == {"id", "source", "score", "date", "rank"}
    parts = stored.call("explain_search", dialog_key=tips, query="river walks").llm_data["hits"][0]
    assert parts["score"] == pytest.approx(parts["cosine"] + parts["boost"], abs=2e-4)


def test_what_has_to_be_asked_for_honestly(stored: Office) -> None:
    """A missing dialog, a half pair, nothing to do: success is false, nothing is proposed."""
    for name, params in (
        ("dialog_status", {"ru_id": "a"}),
        ("ingest_dialog", {"payload_ref": "snapshot:latest"}),
        ("ingest_dialog", {"dialog_key": KEY, "payload_ref": "snapshot:2026-13-40"}),
        ("ingest_dialog", {"dialog_key": KEY, "payload_ref": "file:/etc/passwd"}),
        ("reembed_chunks", {}),
        ("merge_dialog_keys", {"kept": KEY, "dropped": KEY}),
        ("merge_dialog_keys", {"kept": KEY, "dropped": "none"}),
        ("report_wrong_context", {"dialog_key": KEY, "chunk_ids": ["x"], "reason": "stale"}),
    ):
        for actor in (None, agent()):
            result = stored.call(name, actor=actor, **params)
            assert not result.success and "error of its own" not in result.message, (name, result.message)
    assert stored.act.proposals.list(None).total == 0


def test_wrong_context_is_reported_and_withdrawn(stored: Office) -> None:
    """By an AI at once, with its name in the event; the inverse of the event takes it back; the day counts it."""
    hit = stored.core.search.search(SearchRequest(KEY, "chess")).hits[0]
    reported = {"dialog_key": KEY, "chunk_ids": [hit.id, "nonsense"], "reason": "irrelevant"}
    result = stored.call("report_wrong_context", actor=agent(), **reported)
    assert result.success and result.data == {"reported": 1, "unknown": 1}
    assert stored.day()["memory"]["wrong_context"] == 1
    (event,) = stored.core.events.store.query(type="WrongContextReported").rows
    assert event.actor == agent()
    undo = stored.modules["memory"].inverses["WrongContextReported"]
    assert undo({"payload": event.payload}).success
    assert [w.withdrawn_at is not None for w in stored.core.retrievals.store.wrong().rows] == [True]


def test_a_merge_is_proposed_approved_and_undone(office: Office) -> None:
    """Bound to what stands under both keys; the inverse of its event moves everything back."""
    office.core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    office.core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9", messages=2))
    kept, dropped = both_keys("ru-1", "tu-9")
    staged = office.call("merge_dialog_keys", actor=agent(), kept=kept, dropped=dropped)
    assert staged.success, staged.message
    done = office.act.proposals.approve(staged.data["proposal_id"])
    assert done.succeeded, done.result
    assert office.core.dialogs.get(dropped) is None
    (event,) = office.core.events.store.query(type="DialogKeysMerged").rows
    assert event.actor == agent()
    assert office.modules["memory"].inverses["DialogKeysMerged"]({"payload": event.payload}).success
    assert office.core.dialogs.get(dropped) is not None


def test_an_ingest_is_proposed_and_runs_as_a_job_of_the_ai(office: Office) -> None:
    """The job writes the snapshots of the day, in the name of the AI; a changed snapshot makes the proposal stale."""
    notes = [{"text": "Likes the sea.", "date": "2026-11-01"}]
    day = {"dialogKey": KEY, "ruId": "r", "tuId": "t", "profileRu": {"name": "Taras"}, "notes": notes}
    SnapshotService(office.core.db, office.core.events, office.core.clock, embedded=True).capture(day)
    staged = office.call("ingest_dialog", actor=agent(), dialog_key=KEY, payload_ref="snapshot:latest")
    assert staged.success, staged.message
    done = office.act.proposals.approve(staged.data["proposal_id"])
    assert done.succeeded and done.result, done.result
    job = office.core.jobs.finish_here(done.result["data"]["job_id"])
    assert job.state == "done", job.error
    assert office.core.dialogs.get(KEY) is not None
    office.core.events.flush()
    assert office.core.events.store.query(type="DialogIngested").rows[0].actor.kind == "ai"


def test_deleting_a_dialog_is_for_people(stored: Office) -> None:
    """No AI, also not with a yes; a person types the key twice, and has 14 days."""
    params = {"dialog_key": KEY, "confirm": KEY}
    assert not stored.call("delete_dialog_memory", actor=agent(), **params).success
    assert not stored.call("delete_dialog_memory", dialog_key=KEY, confirm="other").success
    assert stored.core.dialogs.get(KEY) is not None
    assert stored.call("delete_dialog_memory", **params).success
    assert stored.core.dialogs.get(KEY) is None and stored.core.corrections.excluded(KEY).total > 5
