"""The table of events, through the production path: supabase-py, gateway, SQL function, Postgres."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.clock import FixedClock
from core.db.client import Database
from core.db.failures import refuses_values
from core.errors import CoreError
from core.events.actor import ai, run_as, system, user
from core.events.emitter import Events, open_events
from core.events.store import EventStore

if TYPE_CHECKING:
    from core.local.server import Endpoint

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def events(db: Database, clock: FixedClock, tmp_path: Path) -> Iterator[Events]:
    opened = open_events(db, tmp_path / "spool", clock)
    yield opened
    opened.close(5)


def test_an_event_comes_back_as_it_went(events: Events) -> None:
    """Payload, actor, cause, record, instant; the sequence begins at one."""
    acting = ai("gemini", "Gemini", mission_id="m1", iteration_id="i1", rationale="asked to")
    cause = str(uuid.uuid4())
    with run_as(acting):
        sent = events.emit(
            "DialogIngested", {"dialog_key": "k", "by_source": {"note": 2}}, record_id="k", caused_by=cause
        )
    assert sent is not None and events.flush()
    (stored,) = events.store.query().rows
    assert (stored.seq, stored.id, stored.type, stored.event_class) == (1, sent.meta.id, "DialogIngested", "audit")
    assert stored.payload == {"dialog_key": "k", "by_source": {"note": 2}}
    assert (stored.actor, stored.record_id, stored.caused_by, stored.timestamp) == (acting, "k", cause, NOW)


def test_equal_instants_keep_the_order_of_emission(events: Events) -> None:
    """Case 12: 250 events under a clock that stands still, in one sequence without gaps."""
    for n in range(250):
        events.emit("SearchPerformed", {"results": n})
    assert events.flush(10)
    rows = events.store.query(limit=1000).rows
    assert [row.payload["results"] for row in rows] == list(reversed(range(250)))
    assert [row.seq for row in rows] == list(range(250, 0, -1))


def test_filters_come_before_the_limit(events: Events) -> None:
    """Case 14: rare ones among many are found, and exactly as many as asked for."""
    for n in range(60):
        events.emit("SearchEmpty", {})
        if n % 10 == 0:
            events.emit("MigrationsApplied", {"count": n}, actor=system("migration"))
    assert events.flush(10)
    page = events.store.query(app_id="health", type="MigrationsApplied", limit=5)
    assert [row.payload["count"] for row in page.rows] == [50, 40, 30, 20, 10]
    assert page.next_before_seq == page.rows[-1].seq
    rest = events.store.query(app_id="health", limit=5, before_seq=page.next_before_seq)
    assert [row.payload["count"] for row in rest.rows] == [0]
    assert rest.next_before_seq is None
    assert len(events.store.query(actor_kind="system", limit=100).rows) == 6
    assert events.store.query(app_id="health", type="SearchEmpty").rows == ()


def test_a_window_of_time_and_a_record(events: Events, clock: FixedClock) -> None:
    """From `since` on and before `until`; counts by type follow the same window."""
    for n in range(4):
        clock.at = NOW + timedelta(hours=n)
        events.emit("SearchPerformed", {"results": n}, record_id=f"k{n % 2}")
    assert events.flush()
    window = {"since": NOW + timedelta(hours=1), "until": NOW + timedelta(hours=3)}
    assert [row.payload["results"] for row in events.store.query(**window).rows] == [2, 1]  # type: ignore[arg-type]
    assert [row.payload["results"] for row in events.store.query(record_id="k0").rows] == [2, 0]
    assert events.store.count_by_type(**window) == {"SearchPerformed": 2}
    assert events.store.count_by_type() == {"SearchPerformed": 4}


def test_the_same_event_twice_is_one(events: Events) -> None:
    """Case 15: within a batch, and in a later one."""
    row = events.prepare("SearchEmpty", {}).row()
    assert events.store.append([row, row]) == 1
    assert events.store.append([row]) == 0
    assert len(events.store.query().rows) == 1


def test_prune_goes_by_age_and_then_by_number(events: Events, db: Database) -> None:
    """Case 13: audit events are spared by number; what is left still verifies."""
    now = datetime.now(UTC)

    def at(days: int, event_type: str, payload: dict[str, object]) -> dict[str, object]:
        return {**events.prepare(event_type, payload).row(), "ts": (now - timedelta(days=days)).isoformat()}

    events.store.append(
        [
            at(500, "MigrationsApplied", {"count": 1}),
            at(300, "MigrationsApplied", {"count": 2}),
            at(91, "SearchPerformed", {"results": 1}),
            *(at(5, "SearchPerformed", {"results": n}) for n in range(2, 6)),
        ]
    )
    store = EventStore(db)
    assert store.prune() == 2
    assert [r.payload for r in store.query(app_id="health").rows] == [{"count": 2}]
    assert store.prune(observation_max=2) == 2
    assert [r.payload["results"] for r in store.query(app_id="memory").rows] == [5, 4]
    assert store.prune(observation_max=2) == 0
    assert store.verify().ok


def test_a_row_changed_behind_our_back_is_found(events: Events, dsn: str) -> None:
    """The chain breaks at the row that somebody edited."""
    for n in range(3):
        events.emit("SearchPerformed", {"results": n})
    assert events.flush()
    chain = events.store.verify()
    assert (chain.ok, chain.checked) == (True, 3)
    with psycopg.connect(dsn) as connection:
        connection.execute("""update companion_events set payload = '{"results": 9}' where seq = 2""")
    chain = events.store.verify()
    assert (chain.ok, chain.first_bad_seq) == (False, 2)


def test_a_row_that_the_database_refuses_does_not_hold_up_the_others(events: Events) -> None:
    """It is set aside, whatever constraint it broke."""
    good, bad = events.prepare("SearchEmpty", {}).row(), events.prepare("SearchEmpty", {}).row()
    for broken in ({**bad, "ts": "never"}, {**bad, "event_id": "x"}, {**bad, "actor": None}, {**bad, "class": "other"}):
        with pytest.raises(CoreError) as caught:
            events.store.append([good, broken])
        assert refuses_values(caught.value)
    assert events.store.query().rows == ()


@pytest.mark.nobody
def test_two_processes_share_one_sequence(db: Database, clock: FixedClock, tmp_path: Path) -> None:
    """Two writers with their own spools: one chain, no gap, each one's order kept."""
    both = [open_events(db, tmp_path / name, clock, default_actor=user(name)) for name in ("a", "b")]
    for n in range(30):
        for events in both:
            events.emit("SearchPerformed", {"results": n})
    closed = [events.close(10) for events in both]
    assert closed == [True, True]
    store = EventStore(db)
    rows = store.query(limit=1000).rows
    assert sorted(row.seq for row in rows) == list(range(1, 61))
    for name in ("a", "b"):
        assert [r.payload["results"] for r in reversed(rows) if r.actor.principal_id == name] == list(range(30))
    assert store.verify().ok
