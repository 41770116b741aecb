"""Kinds of acts: each event in one of them, and the same ones in SQL as here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.clock import FixedClock
from core.db.client import Database
from core.events.actor import Actor, ai, run_as, system, user
from core.events.acts import ACTS, BY, by_of
from core.events.catalogue import EVENTS
from core.events.emitter import Events, open_events

if TYPE_CHECKING:
    from core.local.server import Endpoint

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
ANN = user("oidc:0123456789abcdef", "ann@example.org", ("auditor",))
MODEL = ai("missions", "Mission", mission_id="m-1", iteration_id="i-1", rationale="it was time")
TOLD = ai("mcp:desk", "desk (MCP)", mission_id="mcp:1", iteration_id="c", rationale="asked", on_behalf_of="CI bot")
ACTORS = (ANN, user("token:7", "CI bot"), user("api:local", "Local API"), system("rule"), MODEL, TOLD)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def events(endpoint: Endpoint, clock: FixedClock, tmp_path: Path) -> Iterator[Events]:
    db = Database(endpoint.url, endpoint.service_role_key)
    opened = open_events(db, tmp_path / "spool", clock)
    yield opened
    opened.close(5)
    db.close()


def told(events: Events) -> None:
    """One of each of these, by each actor."""
    for actor in ACTORS:
        with run_as(actor):
            events.emit("DialogIngested", {"dialog_key": "k", "added": 1}, record_id="k")
            events.emit("PersonalDataRevealed", {"page": "dialogs", "dialog_key": "k", "reason": "ticket 4711"})
            events.emit("DataExported", {"page": "usage", "what": "calls", "rows": 3, "revealed": False})
            events.emit("DialogOpened", {"dialog_key": "k"})
            events.emit("SignedIn", {"person": "p"})
            events.emit("ProposalDecided", {"proposal_id": "p", "tool": "t", "decision": "approved"})
            events.emit("JobEnded", {"job_id": "j", "kind": "ingest", "state": "done"})
    assert events.flush(10)


def test_each_kind_of_event_is_of_one_kind_of_act() -> None:
    """Of changes, reveals, exports, reads, access and the rest exactly one; AI stands beside them."""
    apart = [act for name, act in ACTS.items() if name not in ("all", "ai")]
    for name, known in EVENTS.items():
        assert sum(act.has(name, known.event_class, "user") for act in apart) == 1, name
    for name in {type for act in ACTS.values() for type in (*(act.types or ()), *(act.without or ()))}:
        assert name in EVENTS, name


def test_what_is_done_with_personal_data_is_kept_as_long_as_changes() -> None:
    """Reveals, exports and all of access are audit events: never pruned by their number."""
    for name in ("reveals", "exports", "access"):
        for type in ACTS[name].types or ():
            assert EVENTS[type].event_class == "audit", type


@pytest.mark.parametrize("act", list(ACTS))
@pytest.mark.parametrize("by", [None, *(name for name in BY if name != "anybody")])
def test_sql_finds_and_counts_what_python_says(events: Events, act: str, by: str | None) -> None:
    """Every pair of filters: the rows, and their number."""
    told(events)
    everything = events.store.find(limit=1000).rows
    wanted = [e.seq for e in everything if ACTS[act].has(e.type, e.event_class, by_of(e.actor))]
    wanted = [e.seq for e in everything if e.seq in wanted and by in (None, by_of(e.actor))]
    assert [e.seq for e in events.store.find(**ACTS[act].query(), by=by, limit=1000).rows] == wanted
    assert events.store.counts().of(act, by) == len(wanted)
    assert wanted or (act, by) not in [("all", None), ("ai", "ai"), ("reveals", "api")]


def test_of_one_actor(events: Events) -> None:
    """By the principal, whatever the name; the list of actors stays whole."""
    told(events)
    with run_as(user(ANN.principal_id, "Ann")):
        events.emit("SignedOut", {"person": "p"})
    assert events.flush(10)
    found = events.store.find(principal=ANN.principal_id, limit=100).rows
    counts = events.store.counts(principal=ANN.principal_id)
    assert {row.actor.principal_id for row in found} == {ANN.principal_id} and len(found) == counts.of() == 8
    ann = next(one for one in counts.actors if one.principal == ANN.principal_id)
    assert (ann.name, ann.by, ann.n) == ("Ann", "user", 8) and len(counts.actors) == len(ACTORS)


def test_counts_of_a_window_and_a_dialog(events: Events, clock: FixedClock) -> None:
    """The same window as the list has, and what the list is about."""
    told(events)
    clock.at = NOW + timedelta(days=1)
    events.emit("DialogOpened", {"dialog_key": "other"})
    assert events.flush(10)
    assert events.store.counts(since=NOW + timedelta(hours=1)).of() == 1
    assert events.store.counts(until=NOW + timedelta(hours=1), about="k").of() == 3 * len(ACTORS)
    assert events.store.counts(about="other").of("reads") == 1


def test_for_whom_an_ai_acted(events: Events) -> None:
    """Whoever it was told with; else whoever began the mission, or the conversation; nobody where nobody did."""
    talk = ai("companion", "Companion", mission_id="chat:c-1", iteration_id="x", rationale="asked in a conversation")
    alone = ai("companion", "Companion", mission_id="extraction", iteration_id="w", rationale="the week was over")
    with run_as(ANN):
        events.emit("MissionCreated", {"mission_id": "m-1"}, record_id="m-1")
        events.emit("CompanionConversationStarted", {"conversation_id": "c-1"}, record_id="c-1")
    for actor in (MODEL, talk, alone, TOLD):
        events.emit("CompanionToolCalled", {"tool": "t", "success": True}, actor=actor)
    assert events.flush(10)
    found = {row.actor.mission_id: row.on_behalf_of for row in events.store.find(by="ai").rows}
    assert found == {"m-1": ANN.display_name, "chat:c-1": ANN.display_name, "extraction": None, "mcp:1": "CI bot"}
    assert {row.on_behalf_of for row in events.store.find(by="user").rows} == {None}


def test_who_approved_what_an_ai_did(events: Events, dsn: str) -> None:
    """What ran after the yes carries the name of whoever said it; what ran before does not."""
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "insert into companion_proposals (id, status, actor, mission_id, iteration_id, rationale, tool_name,"
            " module, params_hash, created_at, decided_at, decided_by, decider) values"
            " (gen_random_uuid(), 'approved', '{}', 'm-1', 'i-1', 'r', 't', 'm', 'h', %s, %s, 'user', %s)",
            (NOW - timedelta(hours=2), NOW - timedelta(hours=1), '{"display_name": "Ben"}'),
        )
    before = events.prepare("CompanionToolCalled", {"tool": "t", "success": True}, actor=MODEL).row()
    events.store.append([{**before, "ts": (NOW - timedelta(hours=2)).isoformat()}])
    events.emit("CompanionToolCalled", {"tool": "t", "success": True}, actor=MODEL)
    assert events.flush(10)
    assert [row.approved_by for row in events.store.find().rows] == ["Ben", None]


def test_whom_an_ai_acts_for_is_part_of_who_it_is() -> None:
    """Written and read again, as it was."""
    from core.events.actor import normalize_actor

    again: Actor = normalize_actor(TOLD.as_json())
    assert again == TOLD and again.on_behalf_of == "CI bot"
    assert "on_behalf_of" not in MODEL.as_json()
