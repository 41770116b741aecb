"""What AIs did, by mission and iteration: filters in the database, first and earliest, newest bucket first."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from core.bootstrap import Core
from core.events.actor import Actor, ai
from core.events.event import Event
from tests.support.companion import agent

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def put(core: Core, at: datetime, actor: Actor | None = None, type: str = "TaskCreated", **payload: Any) -> None:
    """An event of a moment of the test's own, straight into the table."""
    known = {"task_id": str(uuid.uuid4()), "title": "x"} if type == "TaskCreated" else {}
    event = core.events.prepare(type, {**known, **payload}, actor=actor)
    whole = Event(event.type, event.payload, event.meta).row()
    core.events.store.append([{**whole, "ts": at.isoformat()}])


def test_buckets(core: Core) -> None:
    """The same iteration in two missions is two; people are no part of it; newest bucket first (86)."""
    put(core, NOON, agent("m1", "i1"))
    put(core, NOON + timedelta(hours=1), agent("m2", "i1"))
    put(core, NOON + timedelta(hours=2))
    put(core, NOON + timedelta(hours=3), agent("m1", "i2"))
    found = core.companion.act.timeline.read()
    assert [(b.mission_id, b.iteration_id) for b in found.buckets] == [("m1", "i2"), ("m2", "i1"), ("m1", "i1")]
    assert not found.more and all(b.total == 1 for b in found.buckets)


def test_the_earliest_moment_and_the_first_event(core: Core) -> None:
    """The moment is the minimum, although a later event carries it; agent and rationale are of the first event (86)."""
    first = ai("a", "First agent", mission_id="m", iteration_id="i", rationale="Because of this.")
    later = ai("b", "Later agent", mission_id="m", iteration_id="i", rationale="Another reason.")
    put(core, NOON, first)
    put(core, NOON - timedelta(minutes=5), later)
    (bucket,) = core.companion.act.timeline.read().buckets
    assert (bucket.first_at, bucket.last_at) == (NOON - timedelta(minutes=5), NOON)
    assert (bucket.agent, bucket.rationale) == ("First agent", "Because of this.")


def test_filters_come_before_the_limit(core: Core) -> None:
    """Mission, module and time; one event of many that do not fit is found with a limit of one."""
    put(core, NOON - timedelta(days=2), agent("wanted", "i1"), type="DrinkLogged", drink_type="water")
    for n in range(5):
        put(core, NOON + timedelta(minutes=n), agent("m", f"i{n}"))
    read = core.companion.act.timeline.read
    for filters in ({"mission_id": "wanted"}, {"module": "drink"}, {"until": NOON - timedelta(days=1)}):
        (bucket,) = read(**filters, limit=1).buckets  # type: ignore[arg-type]
        assert bucket.mission_id == "wanted"
    assert [b.iteration_id for b in read(since=NOON + timedelta(minutes=3)).buckets] == ["i4", "i3"]
    assert not read(until=NOON - timedelta(days=2)).buckets, "the end is not included"


def test_limit(core: Core) -> None:
    """The latest events, and that there are more; what is said of an iteration is said of all of it."""
    for n in range(4):
        put(core, NOON + timedelta(minutes=n), agent("m", "i"))
    found = core.companion.act.timeline.read(limit=2)
    (bucket,) = found.buckets
    assert found.more and len(bucket.events) == 2 and bucket.total == 4 and bucket.first_at == NOON
    assert [e.seq for e in bucket.events] == sorted((e.seq for e in bucket.events), reverse=True)
    assert not core.companion.act.timeline.read(limit=4).more


def test_proposals_of_an_iteration(core: Core) -> None:
    """How many wait and how many were decided."""
    call = core.companion.act.executor.call
    for value in (5, 6):
        call("set_token_budget", {"value": value}, actor=agent())
    proposals = core.companion.act.proposals
    proposals.reject(proposals.list("pending").rows[0].id)
    core.events.flush()
    (bucket,) = core.companion.act.timeline.read().buckets
    assert bucket.proposals == {"pending": 1, "rejected": 1} and not bucket.changes()


def test_what_counts_as_a_change(core: Core) -> None:
    """Looks and words are none; a new day is told twice and is one."""
    who = agent()
    put(core, NOON, who, type="TaskUpdated", fields=["due_date"])
    put(core, NOON, who, type="TaskRescheduled", new_date="2026-12-01")
    put(core, NOON, who, type="TaskUpdated", fields=["due_date", "title"])
    put(core, NOON, who, type="CompanionToolCalled", tool="x", success=True)
    (bucket,) = core.companion.act.timeline.read().buckets
    assert bucket.changes() == {"TaskRescheduled": 1, "TaskUpdated": 1}
