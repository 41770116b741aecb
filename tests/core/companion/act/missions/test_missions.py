"""Missions: made, changed, due, taken by one process alone, lost and found again, backed off."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.draft import OBJECTIVE_LIMIT
from core.companion.act.missions.mission import Input
from core.companion.act.missions.outcomes import MissionBusy
from core.companion.act.missions.situation import PlannerUnavailable
from core.errors import DatabaseUnavailable, Forbidden, InputError, NotFound
from core.events.actor import LOCAL_OPERATOR, ai
from tests.support.dialogs import body
from tests.support.missions import MONDAY, Field, Scripted, draft, expire, last, make, plan, statuses, weekly

HOURLY = Cadence("interval", minutes=60)


def test_made_and_changed(field: Field, told: Any) -> None:
    """Everything is kept; the next run changes with the cadence alone; each change has its event, without words."""
    missions = field.missions()
    inputs = (Input("usage", "summary", "week"), Input("memory", "dialog", "k" * 64))
    made = make(missions, cadence=HOURLY, concept="Why", inputs=inputs)
    assert (made.state, made.next_run_at, made.inputs) == ("active", MONDAY + timedelta(hours=1), inputs)
    field.later(minutes=10)
    same = draft(id=made.id, title="Another", cadence=HOURLY, concept="Why", inputs=inputs[:1])
    assert missions.save(LOCAL_OPERATOR, same) == "changed"
    changed = missions.get(made.id)
    assert (changed.title, changed.next_run_at, changed.inputs) == ("Another", made.next_run_at, inputs[:1])
    missions.save(LOCAL_OPERATOR, replace(same, cadence=Cadence("daily", hour=9)))
    assert missions.get(made.id).next_run_at == datetime(2026, 12, 1, 9, tzinfo=UTC)
    assert told("MissionCreated") == [{"mission_id": made.id, "planner": "llm"}]
    assert told("MissionChanged") == [{"mission_id": made.id}] * 2


@pytest.mark.parametrize(
    ("changes", "field_name"),
    [
        ({"title": " "}, "title"),
        ({"title": "a\nb"}, "title"),
        ({"objective": "x" * (OBJECTIVE_LIMIT + 1)}, "objective"),
        ({"concept": f"about {'ab' * 32}"}, "concept"),
        ({"planner": "rules", "template": "nothing"}, "template"),
        ({"planner": "magic"}, "planner"),
        ({"token_budget": -1}, "token_budget"),
        ({"inputs": (Input("food", "meal", "1"),)}, "inputs"),
        ({"inputs": tuple(Input("health", "history", str(n)) for n in range(21))}, "inputs"),
    ],
)
def test_faults_of_a_draft(field: Field, changes: Any, field_name: str) -> None:
    """Each names its field; a dialog's key has no place in free words."""
    with pytest.raises(InputError) as fault:
        field.missions().save(LOCAL_OPERATOR, draft(**changes))
    assert fault.value.field == field_name and not field.missions().list()


def test_an_ai_makes_none(field: Field) -> None:
    """Nor changes, nor cancels one."""
    agent = ai("a", "A", mission_id="m", iteration_id="i", rationale="r")
    with pytest.raises(Forbidden):
        field.missions().save(agent, draft())


def test_states(field: Field, told: Any) -> None:
    """Pausing keeps the next run, resuming computes it anew, completing and archiving clear it, deleting hides."""
    missions = field.missions()
    made = make(missions, cadence=HOURLY)
    assert missions.change_state(LOCAL_OPERATOR, made, "paused")
    assert missions.get(made.id).next_run_at == made.next_run_at
    assert not missions.change_state(LOCAL_OPERATOR, made, "paused")
    field.later(hours=5)
    missions.change_state(LOCAL_OPERATOR, made, "active")
    assert missions.get(made.id).next_run_at == MONDAY + timedelta(hours=6)
    for state in ("done", "archived"):
        missions.change_state(LOCAL_OPERATOR, made, state)
        assert (missions.get(made.id).state, missions.get(made.id).next_run_at) == (state, None)
    missions.change_state(LOCAL_OPERATOR, made, "deleted")
    assert missions.list() == ()
    with pytest.raises(NotFound):
        missions.change_state(LOCAL_OPERATOR, made, "paused")
    assert missions.change_state(LOCAL_OPERATOR, made, "restored") and missions.get(made.id).state == "archived"
    changes = [(one["old_state"], one["new_state"]) for one in told("MissionStateChanged")]
    assert changes[:2] == [("active", "paused"), ("paused", "active")] and changes[-1][1] == "restored"


def test_only_what_is_due(field: Field) -> None:
    """Not the paused, the future, the deleted, the manual; exactly at its moment it is due."""
    missions = field.missions()
    due = make(missions, title="Due", cadence=HOURLY)
    paused = make(missions, title="Paused", cadence=HOURLY)
    deleted = make(missions, title="Deleted", cadence=HOURLY)
    make(missions, title="Later", cadence=Cadence("daily", hour=8))
    make(missions, title="Manual")
    missions.change_state(LOCAL_OPERATOR, paused, "paused")
    missions.change_state(LOCAL_OPERATOR, deleted, "deleted")
    assert missions.run_due() == ()
    field.later(hours=1)
    assert [ran.mission.id for ran in missions.run_due()] == [due.id]
    assert missions.get(due.id).next_run_at == MONDAY + timedelta(hours=2) and missions.run_due() == ()


def test_what_cannot_be_run_says_why(field: Field) -> None:
    """A paused one names its state, an unknown one is not there, one that runs is busy."""
    missions = field.missions()
    made = make(missions)
    with pytest.raises(NotFound):
        missions.run(str(uuid.uuid4()))
    assert missions.store.claim(made.id, "other", str(uuid.uuid4()), "server", due=False, now=MONDAY) == "claimed"
    with pytest.raises(MissionBusy, match="is being run already"):
        missions.run(made.id)
    field.later(hours=1)
    missions.change_state(LOCAL_OPERATOR, made, "paused")
    with pytest.raises(MissionBusy, match="is paused"):
        missions.run(made.id)


def test_two_processes_at_once(field: Field, dsn: str) -> None:
    """A weekly clean-up that is due, taken by six at once: one iteration and one proposal."""
    expire(dsn, MONDAY)
    made = make(field.missions(), **weekly())
    field.later(days=7)
    wings = [field.missions() for _ in range(6)]
    gate, ran = threading.Barrier(6), []

    def work(wing: Any, source: str) -> None:
        gate.wait(30)
        ran.extend(wing.run_due(source))

    threads = [
        threading.Thread(target=work, args=(w, "server" if n % 2 else "foreground")) for n, w in enumerate(wings)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [one.status for one in ran if one.status] == ["awaiting-review"]
    assert statuses(wings[0], made) == ["awaiting-review"]
    assert field.act.proposals.list("pending", mission_id=made.id).total == 1


def test_weekly_cleanup_to_the_end(field: Field, dsn: str, told: Any) -> None:
    """Counted, proposed with the count, approved, run as the AI of that run; a week later there is nothing to do."""
    expire(dsn, MONDAY)
    missions = field.missions()
    made = make(missions, **weekly())
    field.later(days=7)
    missions.run_due("server")
    run = last(missions, made)
    assert [(s.tool, s.status) for s in run.steps] == [("preview_cleanup", "approved"), ("run_cleanup", "staged")]
    assert run.source == "server" and "3 snapshots are past" in (run.summary or "")
    field.later(hours=1)
    done = field.act.proposals.approve(run.steps[1].proposal_id or "")
    assert done.succeeded and "3 expired snapshots were deleted" in (done.result or {})["message"]
    run = last(missions, made)
    assert (run.status, run.steps[1].status) == ("approved", "approved") and "3 expired" in run.steps[1].message
    (event,) = told("CleanupRan", whole=True)
    assert (event.actor.kind, event.actor.mission_id, event.actor.iteration_id) == ("ai", made.id, run.id)
    field.later(days=7)
    missions.run_due()
    assert (last(missions, made).summary, last(missions, made).status) == ("No snapshot is expired.", "approved")


def test_killed_in_the_middle(field: Field, dsn: str) -> None:
    """Its process is gone after the proposal was staged: the lease ends, the next one closes that run and does it
    again, and finds the proposal that waits."""
    expire(dsn, MONDAY)

    class Gone(BaseException):
        pass

    first = field.missions()
    made = make(first, **weekly())
    field.later(days=7)
    store_finish = first.store.finish
    first.store.finish = lambda *_: (_ for _ in ()).throw(Gone())  # type: ignore[method-assign]
    with pytest.raises(Gone):
        first.run_due()
    first.store.finish = store_finish  # type: ignore[method-assign]
    second = field.missions()
    assert second.run_due() == ()  # still leased
    assert last(second, made).status == "running" and last(second, made).steps[1].status == "staged"
    field.later(minutes=5)
    assert [one.status for one in second.run_due()] == ["awaiting-review"]
    again, lost = second.iterations(made.id).rows
    assert lost.status == "failed" and (lost.error or {})["name"] == "Lost"
    assert again.steps[1].proposal_id == lost.steps[1].proposal_id
    assert field.act.proposals.list("pending", mission_id=made.id).total == 1


def test_stale_runs_are_closed(field: Field, told: Any) -> None:
    """Running for more than ten minutes with nobody holding it: failed, with an event; also of a paused mission."""
    missions = field.missions()
    made = make(missions)
    assert missions.store.claim(made.id, "gone", str(uuid.uuid4()), "server", due=False, now=MONDAY) == "claimed"
    missions.change_state(LOCAL_OPERATOR, made, "paused")
    field.later(minutes=9)
    assert missions.close_stale() == 0
    field.later(minutes=2)
    assert missions.close_stale() == 1 and missions.close_stale() == 0
    assert statuses(missions, made) == ["failed"] and missions.get(made.id).lease_until is None
    assert [one["error_class"] for one in told("MissionIterationFinished")] == ["Lost"]


def test_a_run_that_was_taken_over_does_nothing_more(field: Field) -> None:
    """A process that slept through its lease finds that its run is another's: no tool, no second end."""
    other = field.missions(Scripted(plan()))

    def sleep(situation: Any) -> Any:
        field.later(minutes=5)
        other.run(situation.mission.id)
        return plan("look")

    missions = field.missions(Scripted(sleep))
    made = make(missions)
    missions.run(made.id)
    assert not field.runs and statuses(missions, made) == ["approved", "failed"]


def test_back_off_pause_and_nudge(field: Field, told: Any) -> None:
    """Two failures run at the next time, then each second, fourth, eighth; the sixth pauses it and says so once."""
    missions = field.missions(Scripted(*[PlannerUnavailable("No model planned this.")] * 6))
    made = make(missions, cadence=HOURLY)
    gaps = []
    for _ in range(6):
        mission = missions.get(made.id)
        assert mission.next_run_at is not None
        before = field.clock.at = mission.next_run_at
        missions.run_due()
        at = missions.get(made.id).next_run_at
        gaps.append((at - before).total_seconds() / 3600 if at else None)
    assert gaps == [1, 1, 2, 4, 8, None]
    mission = missions.get(made.id)
    assert (mission.state, mission.fail_count) == ("paused", 6)
    assert told("MissionIterationFinished")[-1]["paused"] is True
    field.core.events.flush()
    assert [n.type for n in field.core.companion.reflection.nudges.open()].count("mission_paused") == 1
    missions.change_state(LOCAL_OPERATOR, mission, "active")
    assert missions.get(made.id).fail_count == 0 and missions.get(made.id).next_run_at is not None


def test_a_success_ends_the_count(field: Field) -> None:
    """Failures count in a row."""
    missions = field.missions(Scripted(RuntimeError("x"), RuntimeError("x"), plan()))
    made = make(missions, cadence=HOURLY)
    counts = []
    for _ in range(3):
        field.later(hours=1)
        missions.run_due()
        counts.append(missions.get(made.id).fail_count)
    assert counts == [1, 2, 0]


def test_one_failing_stops_no_other(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the database fails for one of them."""
    missions = field.missions(Scripted(RuntimeError("x"), plan()))
    for n in range(2):
        make(missions, title=f"Mission {n}", cadence=HOURLY)
    broken = make(missions, title="Broken", cadence=HOURLY)
    claim = missions.store.claim

    def failing(id: str, *rest: Any, **named: Any) -> str:
        if id == broken.id:
            raise DatabaseUnavailable("away")
        return claim(id, *rest, **named)

    monkeypatch.setattr(missions.store, "claim", failing)
    field.later(hours=1)
    assert sorted(str(ran.status) for ran in missions.run_due()) == ["None", "approved", "failed"]


def test_an_interrupted_run_stays_due(field: Field) -> None:
    """Ctrl-C closes the run that is in hand; it counts as no failure, and the mission is still due."""
    missions = field.missions(Scripted(KeyboardInterrupt()))
    made = make(missions, cadence=HOURLY)
    field.later(hours=1)
    with pytest.raises(KeyboardInterrupt):
        missions.run_due()
    assert (last(missions, made).error or {})["name"] == "Stopped"
    mission = missions.get(made.id)
    assert (mission.fail_count, mission.lease_until) == (0, None) and mission.next_run_at == field.clock.at


def test_tick(field: Field) -> None:
    """A round runs beside; a second one while it works is left out; closing ends it."""
    entered, leave = threading.Event(), threading.Event()

    def wait(situation: Any) -> Any:
        entered.set()
        assert leave.wait(30)
        return plan("look")

    missions = field.missions(Scripted(wait))
    made = make(missions, cadence=HOURLY)
    field.later(hours=1)
    assert missions.tick() and entered.wait(30)
    assert not missions.tick()
    missions.stop()
    leave.set()
    missions.close(30)
    assert not field.runs and (last(missions, made).error or {})["name"] == "Stopped"


def test_started_beside(field: Field) -> None:
    """Run now gives the id of the run at once; who is not allowed or too late hears it at once."""
    missions = field.missions(Scripted(plan("look")))
    made = make(missions)
    run = missions.start(made.id)
    missions._threads[0].join(30)
    assert last(missions, made).id == run and last(missions, made).status == "approved"


def test_an_erased_dialog_leaves_missions_and_runs(field: Field, dsn: str) -> None:
    """The input, what its runs said, and the proposal are gone; the mission itself stays and runs without it."""
    field.core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    (row,) = field.core.dialogs.list().rows
    asked = ("ingest_dialog", {"dialog_key": row.dialog_key, "payload_ref": "snapshot:latest"})
    missions = field.missions(Scripted(plan("look", ("dialog_status", {"dialog_key": row.dialog_key}), asked)))
    made = make(missions, inputs=(Input("memory", "dialog", row.dialog_key), Input("usage", "summary", "week")))
    missions.run(made.id)
    missions.feedback(LOCAL_OPERATOR, last(missions, made), "Ann again")
    assert row.dialog_key in repr(last(missions, made).steps)
    field.core.erasures.erase(row.dialog_key, "request")
    found = missions.get(made.id)
    assert found.inputs == (Input("usage", "summary", "week"),)
    run = last(missions, made)
    assert (run.steps, run.summary, run.feedback) == ((), None, None)
    with psycopg.connect(dsn) as db:
        tables = ("companion_missions", "companion_mission_inputs", "companion_iterations", "companion_proposals")
        said = " ".join(str(db.execute(f"select * from {name}").fetchall()) for name in tables)
    assert row.dialog_key not in said and "Ann" not in said
    field.later(minutes=1)
    assert missions.run(made.id) == "approved"
