"""What an AI did is taken back by a person: newest first, once, and never over what somebody changed since."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from core.access import granted
from core.bootstrap import Core
from core.companion.act.revert import Reverted, Reverts
from core.companion.contract import ToolResult
from core.errors import ConflictError, DatabaseUnavailable, Forbidden
from core.events.actor import LOCAL_OPERATOR, Actor, ai, run_as
from core.events.store import StoredEvent
from tests.support.acting import as_operator
from tests.support.companion import agent


def work(core: Core, actor: Actor, *calls: tuple[str, Mapping[str, Any]]) -> list[Any]:
    """Tools run as an AI that everything is allowed, as after an approval."""
    done = []
    for name, params in calls:
        tool = core.companion.act.toolbox.find(name)
        assert tool is not None
        result = core.companion.act.executor.run(tool, params, actor)
        assert result.success, result.message
        done.append(result.data)
    assert core.events.flush()
    return done


def revert(core: Core, actor: Actor | None = None) -> Reverted:
    who = actor or agent()
    assert core.events.flush()
    return core.companion.act.reverts.revert(str(who.mission_id), str(who.iteration_id))


def stored(core: Core, type: str) -> list[StoredEvent]:
    assert core.events.flush()
    return list(reversed(core.events.store.query(type=type, limit=100).rows))


class Shelf:
    """Inverses that note what they are given; `raises` and `refuses` name types that fail."""

    def __init__(self, core: Core, *types: str) -> None:
        self.got: list[str] = []
        self.raises: set[str] = set()
        self.refuses: set[str] = set()
        deps = core.companion.deps
        timeline = core.companion.act.timeline
        self.reverts = Reverts(
            deps.db, deps.events, deps.clock, timeline, {type: self._inverse(type) for type in types}
        )

    def _inverse(self, type: str) -> Any:
        def undo(event: Mapping[str, Any]) -> ToolResult:
            self.got.append(f"{type} {event['payload'].get('task_id') or event['payload'].get('entry_id')}")
            if type in self.raises:
                raise RuntimeError("row of ru-4711: she wrote hello")
            return ToolResult(type not in self.refuses, "It is another by now.")

        return undo


def emit(core: Core, type: str, actor: Actor, **payload: Any) -> None:
    core.events.emit(type, payload, actor=actor, record_id=str(payload.get("task_id") or payload.get("entry_id")))


def test_newest_first_and_only_this_iteration(core: Core) -> None:
    """By the order in which the database took them; another iteration, another mission and people stay (80, 81)."""
    shelf = Shelf(core, "TaskCreated", "TaskCompleted")
    mine, other, foreign = agent(), agent("mission-1", "iteration-2"), agent("mission-2", "iteration-1")
    emit(core, "TaskCreated", mine, task_id="a", title="a")
    emit(core, "TaskCreated", other, task_id="b", title="b")
    emit(core, "TaskCompleted", mine, task_id="a", title="a")
    emit(core, "TaskCreated", foreign, task_id="c", title="c")
    core.events.emit("TaskCreated", {"task_id": "d", "title": "d"})
    emit(core, "TaskCreated", mine, task_id="e", title="e")
    core.events.flush()
    done = shelf.reverts.revert("mission-1", "iteration-1")
    assert shelf.got == ["TaskCreated e", "TaskCompleted a", "TaskCreated a"]
    assert (done.total, done.reverted, done.failed) == (3, 3, 0)


def test_unsupported_is_counted(core: Core) -> None:
    """What has no inverse is skipped and said before; what only tells is no change at all (82)."""
    shelf = Shelf(core, "TaskCreated")
    emit(core, "TaskCreated", agent(), task_id="a", title="a")
    core.events.emit("CleanupRan", {"deleted": 3}, actor=agent())
    core.events.emit("CompanionToolCalled", {"tool": "create_task", "success": True}, actor=agent())
    core.events.flush()
    plan = shelf.reverts.plan("mission-1", "iteration-1")
    assert (plan.undoable, plan.unsupported, plan.reverted) == ({"TaskCreated": 1}, {"CleanupRan": 1}, 0)
    done = shelf.reverts.revert("mission-1", "iteration-1")
    assert (done.total, done.reverted, done.skipped_unsupported) == (2, 1, 1)
    assert shelf.reverts.plan("mission-1", "iteration-1").reverted == 1


def test_a_failing_inverse_never_stops_the_next(core: Core, caplog: pytest.LogCaptureFixture) -> None:
    """One raises, one says no: both are counted with record and reason, the rest is taken back (83)."""
    shelf = Shelf(core, "TaskCreated", "TaskCompleted", "DrinkLogged")
    shelf.raises, shelf.refuses = {"TaskCompleted"}, {"DrinkLogged"}
    emit(core, "TaskCreated", agent(), task_id="a", title="a")
    emit(core, "TaskCompleted", agent(), task_id="a", title="a")
    emit(core, "DrinkLogged", agent(), entry_id="x", drink_type="water")
    core.events.flush()
    done = shelf.reverts.revert("mission-1", "iteration-1")
    assert (done.total, done.reverted, done.failed) == (3, 1, 2)
    assert [(f.type, f.record_id) for f in done.failures] == [("DrinkLogged", "x"), ("TaskCompleted", "a")]
    assert done.failures[0].reason == "It is another by now." and "hello" not in done.failures[1].reason
    assert "hello" not in caplog.text
    # Once the cause is gone the failed ones are done, and those alone.
    shelf.raises, shelf.refuses = set(), set()
    again = shelf.reverts.revert("mission-1", "iteration-1")
    assert (again.reverted, again.already, again.failed) == (2, 1, 0)


def test_a_second_revert_touches_nothing(core: Core) -> None:
    """No inverse, no event (84)."""
    work(core, agent(), ("create_task", {"title": "Pay"}), ("log_drink", {"drink_type": "water", "quantity_ml": 250}))
    assert revert(core).reverted == 2
    again = revert(core)
    assert (again.total, again.reverted, again.already, again.failed) == (2, 0, 2, 0)
    assert len(stored(core, "IterationReverted")) == 1 and len(stored(core, "TaskDeleted")) == 1


def test_two_sessions_at_once(core: Core) -> None:
    """Each event is taken back by one of them."""
    work(core, agent(), *(("log_drink", {"drink_type": "water", "quantity_ml": 100 + n}) for n in range(6)))
    gate, results = threading.Barrier(2), []

    def press() -> None:
        gate.wait()
        results.append(revert(core))

    threads = [threading.Thread(target=as_operator(press)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(r.reverted for r in results) == 6 and not any(r.failed for r in results)
    assert len(stored(core, "DrinkEntryDeleted")) == 6


def test_a_reopened_task_is_not_completed_again(core: Core) -> None:
    """The AI completed it, a person opened it again: open it stays (85)."""
    task = core.companion.records.tasks.create("Pay")
    work(core, agent(), ("complete_task", {"task_id": task["id"]}))
    core.companion.records.tasks.uncomplete(task["id"])
    done = revert(core)
    assert (done.reverted, done.failed) == (0, 1)
    assert core.companion.records.tasks.get(task["id"])["completed_at"] is None
    assert len(stored(core, "TaskCompleted")) == 1


def test_the_undo_is_in_the_log_as_the_person(core: Core) -> None:
    """Each undo names the person and the event that it takes back; the revert itself is an event too."""
    work(core, agent(), ("create_task", {"title": "Pay"}))
    revert(core)
    (created,), (deleted,), (told,) = (
        stored(core, "TaskCreated"),
        stored(core, "TaskDeleted"),
        stored(core, "IterationReverted"),
    )
    assert (deleted.actor.kind, deleted.caused_by) == ("user", created.id)
    assert (told.actor.kind, told.payload["reverted"], told.payload["failed"]) == ("user", 1, 0)
    assert (told.payload["mission_id"], told.payload["iteration_id"]) == ("mission-1", "iteration-1")


def test_what_somebody_changed_since_stays(core: Core) -> None:
    """A description, a step, another day: the task of the AI is a conflict, and is not deleted."""
    tasks, steps = core.companion.records.tasks, core.companion.records.steps
    made = work(core, agent(), *(("create_task", {"title": f"T{n}"}) for n in range(4)))
    tasks.update(made[0]["id"], {"description": "mine"})
    tasks.update(made[1]["id"], {"due_date": "2026-12-24"})
    steps.add(made[2]["id"], "a step of mine")
    done = revert(core)
    assert (done.reverted, done.failed) == (1, 3)
    assert all("since" in f.reason or "not as it was" in f.reason for f in done.failures)
    assert [tasks.get(m["id"])["title"] for m in made[:3]] == ["T0", "T1", "T2"]


def test_several_changes_of_one_record(core: Core) -> None:
    """Made, moved, done and opened again by the same AI: all of it goes back, in order."""
    tasks, who = core.companion.records.tasks, agent()
    task = tasks.create("Old", due_date="2026-12-01")
    with run_as(who), granted("own_day_change"):
        tasks.complete(task["id"])
        tasks.uncomplete(task["id"])
        tasks.update(task["id"], {"due_date": "2026-12-05"})
        tasks.complete(task["id"])
    done = revert(core)
    assert (done.total, done.reverted, done.failed) == (4, 4, 0)
    now = tasks.get(task["id"])
    assert now["completed_at"] is None and now["due_date"] == "2026-12-01"


def test_deleted_and_put_back_by_somebody(core: Core) -> None:
    """A deletion by the AI goes back, unless a person has put it back and deleted it anew."""
    tasks = core.companion.records.tasks
    first, second = tasks.create("First"), tasks.create("Second")
    with run_as(agent()), granted("own_day_change"):
        tasks.delete(first["id"])
        tasks.delete(second["id"])
    tasks.restore(second["id"])
    tasks.delete(second["id"])
    done = revert(core)
    assert (done.reverted, done.failed) == (1, 1)
    assert tasks.get(first["id"])["title"] == "First"


def test_only_a_person(core: Core) -> None:
    """An AI cannot, not even of its own work."""
    work(core, agent(), ("create_task", {"title": "Pay"}))
    with run_as(agent()), pytest.raises(Forbidden):
        core.companion.act.reverts.revert("mission-1", "iteration-1")


def test_the_database_goes_away_in_the_middle(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was taken back until then is told and noted; the next revert goes on, and does nothing twice."""
    work(core, agent(), *(("log_drink", {"drink_type": "water", "quantity_ml": 100 + n}) for n in range(3)))
    reverts, claims = core.companion.act.reverts, []
    whole = Reverts._claim

    def away(self: Reverts, *given: Any) -> Any:
        claims.append(1)
        if len(claims) == 2:
            raise DatabaseUnavailable("The database does not answer.")
        return whole(self, *given)

    monkeypatch.setattr(Reverts, "_claim", away)
    with pytest.raises(DatabaseUnavailable):
        reverts.revert("mission-1", "iteration-1")
    done = revert(core)
    assert (done.reverted, done.already, done.failed) == (2, 1, 0)
    assert len(stored(core, "DrinkEntryDeleted")) == 3


def test_a_process_that_died_while_it_took_back(core: Core) -> None:
    """Its claim holds for five minutes; then somebody else may take the event."""
    work(core, agent(), ("create_task", {"title": "Pay"}))
    (event,) = core.companion.act.timeline.iteration("mission-1", "iteration-1")[-1:]
    now = core.clock.now()
    for age, taken in ((timedelta(minutes=1), False), (timedelta(minutes=6), True)):
        claim = {"p_event_id": event.id, "p_actor": agent().as_json()}
        core.db.rpc("companion_claim_revert", {**claim, "p_at": (now - age).isoformat()}, read=False)
        assert (revert(core).reverted == 1) is taken
        core.db.rpc("companion_prune_reverts", {"p_days": 0}, read=False)


def test_tools_of_the_product_itself(core: Core) -> None:
    """The budget, a learned fact and a report of wrong context go back; a budget changed since does not."""
    fact = {"category": "pattern", "content": "Tasks are done in the morning.", "fact_key": "morning-tasks",
            "confidence": 0.4, "evidence": ["todo.TaskCompleted"]}  # fmt: skip
    work(core, agent(), ("set_token_budget", {"value": 5_000}), ("learn_fact", fact))
    (known,) = core.companion.reflection.facts.list(0.0)
    assert (known.fact_key, known.origin, known.confidence) == ("llm:morning-tasks", "llm", 0.3)
    assert stored(core, "FactLearned")[0].actor.kind == "ai"
    assert revert(core).reverted == 2
    assert core.usage.prices.budget().tokens_per_day is None and not core.companion.reflection.facts.list(0.0)

    later = ai("p", "P", mission_id="mission-9", iteration_id="i", rationale="It is.")
    work(core, later, ("set_token_budget", {"value": 6_000}), ("learn_fact", {**fact, "fact_key": "again"}))
    core.companion.act.executor.call("set_token_budget", {"value": 7_000})
    (known,) = core.companion.reflection.facts.list(0.0)
    core.companion.reflection.facts.judge(LOCAL_OPERATOR, known, "contradicted")
    done = revert(core, later)
    assert (done.reverted, done.failed) == (0, 2)
    assert core.usage.prices.budget().tokens_per_day == 7_000


def test_a_conflict_is_said_in_words(core: Core) -> None:
    """An inverse that raises a conflict of its own is a failure with that reason, not the end."""

    def no(_: Mapping[str, Any]) -> ToolResult:
        raise ConflictError("The rows were merged further.")

    deps, act = core.companion.deps, core.companion.act
    emit(core, "TaskCreated", agent(), task_id="a", title="a")
    core.events.flush()
    reverts = Reverts(deps.db, deps.events, deps.clock, act.timeline, {"TaskCreated": no})
    assert [f.reason for f in reverts.revert("mission-1", "iteration-1").failures] == ["The rows were merged further."]
