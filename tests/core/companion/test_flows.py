"""The companion from end to end: what a person does, what follows from it once, and what became of it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.clock import FixedClock
from core.companion.act.proposals import ProposalDecided
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.events.actor import LOCAL_OPERATOR
from core.local.server import Endpoint
from tests.support.acting import as_operator
from tests.support.companion import agent
from tests.support.snapshots import count, row, upstream

NOW = datetime(2026, 11, 30, 16, 5, tzinfo=UTC)
MARK = {"entity_type": "daily_sync", "source_id": "daily-sync", "payload": {"completedAt": "x"}}
SOON = "2027-01-01T00:00:00Z"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint, clock: FixedClock) -> Iterator[Core]:
    """The whole core at a moment that can be moved, nothing running by itself."""
    with build_core(
        read_settings(env), endpoint=endpoint, clock=clock, embedder=TestEmbedder(), background=False
    ) as built:
        yield built


def said(desk: Core, type: str) -> list[str]:
    """The ids of all nudges of a type that were ever shown."""
    desk.events.flush()
    rows = desk.events.store.query(type="NudgeShown", limit=500).rows
    return [row.payload["nudge_id"] for row in rows if row.payload["type"] == type]


def test_eight_glasses(desk: Core) -> None:
    """Eight glasses, one goal reached, one nudge, and the answer as its outcome; a ninth glass says nothing more."""
    mind, drinks = desk.companion.reflection, desk.companion.records.drinks
    template = next(t for t in mind.goals.templates if t.id == "drink.water-8")
    mind.goals.add(LOCAL_OPERATOR, template.id)
    for _ in range(8):
        drinks.log("water", 250)
    desk.events.flush()
    (goal,) = mind.goals.list()
    assert (goal.value, goal.reached) == (8, True)
    taken = drinks.undo()
    drinks.restore(taken["id"])
    drinks.log("water", 250)
    desk.events.flush()
    assert len(desk.events.store.query(type="GoalReached").rows) == 1
    (shown,) = [nudge for nudge in mind.nudges.open() if nudge.type == "goal_reached"]
    assert mind.nudges.act(LOCAL_OPERATOR, shown) and not mind.nudges.act(LOCAL_OPERATOR, shown)
    desk.events.flush()
    (told,) = desk.events.store.query(type="NudgeResolved").rows
    assert (told.payload["nudge_id"], told.payload["outcome"]) == (shown.id, "acted")
    assert said(desk, "goal_reached") == [shown.id]


def test_a_proposed_cleanup_in_two_sessions(core: Core, env: Mapping[str, str], endpoint: Endpoint, dsn: str) -> None:
    """Two sessions, each its own process, approve at the same moment: the rows go once, as the AI that proposed it."""
    ago = datetime.now(UTC) - timedelta(hours=2)
    with psycopg.connect(dsn, autocommit=True) as sql:
        upstream(sql, *(row(day="2026-11-01", source_id=f"e{n}", expires_at=ago.isoformat()) for n in range(5)))
        call = core.companion.act.executor.call
        shown: Any = call("preview_cleanup", {}, actor=agent()).llm_data
        asked = {"preview_id": shown["preview_id"], "expected_count": shown["expected_count"]}
        staged: Any = call("run_cleanup", asked, actor=agent()).data
        assert count(sql) == 5
        with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as other:
            gate, states = threading.Barrier(2), []

            def press(session: Core) -> None:
                gate.wait()
                try:
                    states.append(str(session.companion.act.proposals.approve(staged["proposal_id"]).status))
                except ProposalDecided as late:
                    states.append(f"late: {late.state}")

            threads = [threading.Thread(target=as_operator(press), args=(session,)) for session in (core, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            other.events.flush()
        core.events.flush()
        assert sorted(state.partition(":")[0] for state in states) == ["approved", "late"]
        assert count(sql) == 0
    (ran,) = core.events.store.query(type="CleanupRan").rows
    assert ran.actor == agent() and ran.payload["deleted"] == 5


def used(desk: Core, total: int, at: datetime, *, model: str = "m", calls: int = 1) -> None:
    for n in range(calls):
        moment = (at + timedelta(milliseconds=n)).isoformat()
        entry = {"provider": "gemini", "model": model, "phase": "generate", "totalTokens": total, "at": moment}
        desk.usage.record({"requestId": str(uuid.uuid4()), "entries": [{**entry, "promptTokens": total}]})


def test_planted_faults_are_said_once(desk: Core, clock: FixedClock, dsn: str) -> None:
    """A spike of tokens, a missed sync, calls of an unknown model: the right nudge each, once, however often looked."""
    today, hour = NOW.date(), NOW.replace(minute=0) - timedelta(hours=1)
    for back in range(1, 8):
        used(desk, 10_000, hour - timedelta(days=back))
    used(desk, 70_000, hour + timedelta(minutes=5))
    used(desk, 10, hour - timedelta(hours=3), calls=25)
    used(desk, 10, hour - timedelta(hours=3), model="unknown", calls=2)
    with psycopg.connect(dsn, autocommit=True) as sql:
        for key, days in (("a", (1, 0)), ("b", (1,))):
            upstream(sql, *(row(key, f"{today - timedelta(d)}", **MARK, expires_at=SOON) for d in days))
    for moment in (NOW, NOW, NOW + timedelta(minutes=16), NOW + timedelta(hours=2), NOW + timedelta(hours=2)):
        clock.at = moment
        desk.companion.projections.invalidate()
        desk.companion.reflection.pulse.step()
    assert said(desk, "token_spike") == [f"token-spike-{today}-15"]
    assert len(said(desk, "unknown_models")) == 1
    assert len(said(desk, "daily_sync_missing")) == 1
