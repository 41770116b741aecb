"""Proposals: staged once, decided once, run once as the AI; stale, denied, expired and erased ones are not run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from core.clock import FixedClock
from core.companion.act.proposal_store import Proposal
from core.companion.act.proposals import ProposalDecided, ProposalStale
from core.errors import CoreError, Forbidden, NotFound
from core.events.actor import Actor, run_as
from tests.core.companion.act.conftest import Bench, agent_of
from tests.support.acting import as_operator


def stage(bench: Bench, actor: Actor, title: str = "t", name: str = "shelve", **more: Any) -> str:
    result = bench.act.executor.call(name, {"title": title, **more}, actor=actor)
    assert result.success, result.message
    return str(result.data["proposal_id"])


def events(bench: Bench, name: str) -> list[Any]:
    bench.core.events.flush()
    return list(bench.core.events.store.query(type=name).rows[::-1])


@pytest.fixture
def clock(bench: Bench) -> FixedClock:
    """The bench's wing on a clock that can be moved."""
    held = FixedClock(bench.core.clock.now())
    object.__setattr__(bench.core, "clock", held)
    bench.act = bench.again()
    return held


def test_staged(bench: Bench, agent: Actor) -> None:
    """Everything of the call is kept, with its event; nothing has run."""
    id = stage(bench, agent, "t", size="3")
    found = bench.act.proposals.get(id)
    assert (found.status, found.tool_name, found.module, found.actor) == ("pending", "shelve", "bench", agent)
    assert found.params == {"title": "t", "size": 3} and found.rationale == agent.rationale
    assert found.expires_at is not None and found.expires_at - found.created_at == timedelta(days=7)
    assert not bench.runs
    (event,) = events(bench, "ProposalCreated")
    assert event.actor == agent and event.payload["proposal_id"] == id and "title" not in event.payload


def test_the_same_is_kept_once(bench: Bench, agent: Actor) -> None:
    """Same tool, arguments and mission: the one that waits, whatever the order of keys; another mission has its own."""
    id = stage(bench, agent, "t", size=3)
    assert stage(bench, agent_of("mission-1", "iteration-2"), "t", size="3") == id
    assert stage(bench, agent_of("mission-2", "iteration-2"), "t", size=3) != id
    assert stage(bench, agent, "u", size=3) != id
    assert len(events(bench, "ProposalCreated")) == 3
    bench.act.proposals.reject(id)
    assert stage(bench, agent, "t", size=3) != id


def test_approved_once_as_the_ai(bench: Bench, agent: Actor) -> None:
    """The tool runs under the AI that proposed it, the decision is the person's, the redacted result is kept."""
    id = stage(bench, agent)
    done = bench.act.proposals.approve(id)
    assert bench.runs == [("shelve", {"title": "t"}, agent)]
    assert done.result == {"success": True, "message": "shelve: done.", "data": {"n": 1}}
    assert bench.act.proposals.get(id) == done and done.succeeded
    (event,) = events(bench, "ProposalDecided")
    assert event.actor.kind == "user" and event.payload["decision"] == "approved"
    assert events(bench, "CompanionToolCalled")[-1].actor == agent
    for again in (bench.act.proposals.approve, bench.act.proposals.retry, bench.act.proposals.reject):
        with pytest.raises(ProposalDecided, match="approved already"):
            again(id)
    assert len(bench.runs) == 1


def test_two_sessions_at_the_same_moment(bench: Bench, agent: Actor) -> None:
    """Of twenty that press at once, in two processes, one runs it; the others are told its state."""
    id = stage(bench, agent)
    wings, gate = (bench.act, bench.again()), threading.Barrier(20)
    states: list[str] = []

    def press(n: int) -> None:
        gate.wait()
        try:
            wings[n % 2].proposals.approve(id)
            states.append("done")
        except ProposalDecided as late:
            states.append(late.state)

    together(20, press)
    assert states.count("done") == 1 and set(states) == {"done", "approved"}
    assert len(bench.runs) == 1 and len(events(bench, "ProposalDecided")) == 1


def test_approve_against_reject(bench: Bench, agent: Actor) -> None:
    """Pressed at once, one of them holds, and the tool ran only if it was the yes."""
    id = stage(bench, agent)
    gate = threading.Barrier(2)

    def press(n: int) -> None:
        gate.wait()
        with_suppressed(lambda: (bench.act.proposals.approve, bench.act.proposals.reject)[n](id))

    together(2, press)
    assert len(bench.runs) == (1 if bench.act.proposals.get(id).status == "approved" else 0)
    assert len(events(bench, "ProposalDecided")) == 1


def test_rejected_with_a_reason(bench: Bench, agent: Actor) -> None:
    """The trimmed reason is kept, an empty one is none; an iteration's reasons stand together, nothing ran."""
    first, second, third = (stage(bench, agent, title) for title in "abc")
    assert bench.act.proposals.iteration("mission-1", "iteration-1") == ("pending", None)
    assert bench.act.proposals.reject(first, "  not now \n").feedback == "not now"
    assert bench.act.proposals.reject(second, "  ").feedback is None
    bench.act.proposals.reject(third, "too many")
    assert bench.act.proposals.iteration("mission-1", "iteration-1") == ("rejected", "not now\ntoo many")
    with pytest.raises(ProposalDecided, match="rejected already"):
        bench.act.proposals.approve(first)
    assert not bench.runs
    assert [e.payload.get("has_reason") for e in events(bench, "ProposalDecided")] == [True, False, True]
    assert all("not now" not in str(e) for e in events(bench, "ProposalDecided"))


def test_expiry(bench: Bench, agent: Actor, clock: FixedClock) -> None:
    """Only those that are past; none can be approved any more, also before somebody closes them."""
    old = stage(bench, agent, "old")
    clock.at += timedelta(days=1)
    new = stage(bench, agent, "new")
    assert bench.act.proposals.expire() == 0
    clock.at += timedelta(days=6, seconds=1)
    with pytest.raises(ProposalDecided, match="expired already"):
        bench.act.proposals.approve(old)
    assert [p.id for p in bench.act.proposals.list().rows] == [new]
    assert (bench.act.proposals.expire(), bench.act.proposals.expire()) == (1, 0)
    found = bench.act.proposals.get(old)
    assert (found.status, found.decided_by) == ("expired", "auto-expire")
    (event,) = events(bench, "ProposalDecided")
    assert (event.actor.kind, event.payload["decision"]) == ("system", "expired")
    assert stage(bench, agent, "old") != old


def test_stale(bench: Bench, agent: Actor) -> None:
    """Where the target changed since, approval is refused and says what to do; proposed anew, it is another."""
    id = stage(bench, agent)
    bench.shelf.append("b")
    with pytest.raises(ProposalStale, match="proposed anew"):
        bench.act.proposals.approve(id)
    assert not bench.runs and bench.act.proposals.get(id).status == "pending"
    fresh = stage(bench, agent)
    assert fresh != id and bench.act.proposals.get(id).status == "expired"
    assert [e.payload["decision"] for e in events(bench, "ProposalDecided")] == ["expired"]
    assert bench.act.proposals.approve(fresh).succeeded
    assert bench.core.events.store.verify().ok


def test_deny_also_at_approval(bench: Bench, agent: Actor) -> None:
    """A no that came after the proposal holds; the proposal can still be rejected."""
    id = stage(bench, agent)
    bench.act.policies.override("deny", tool=bench.act.toolbox.find("shelve"))
    with pytest.raises(Forbidden):
        bench.act.proposals.approve(id)
    assert not bench.runs
    assert bench.act.proposals.reject(id).status == "rejected"


def test_a_run_that_fails_can_be_tried_again(bench: Bench, agent: Actor) -> None:
    """It stays approved and open with its failure; of many retries at once one runs; after success none."""
    id = stage(bench, agent)
    bench.fails = True
    failed = bench.act.proposals.approve(id)
    assert failed.status == "approved" and failed.result is not None and not failed.succeeded
    assert "hello" not in str(failed.result)
    assert [p.id for p in bench.act.proposals.list().rows] == [id]
    bench.fails = False
    gate = threading.Barrier(6)

    def press(n: int) -> None:
        gate.wait()
        with_suppressed(lambda: bench.act.proposals.retry(id))

    together(6, press)
    assert len(bench.runs) == 1 and bench.act.proposals.get(id).succeeded
    assert bench.act.proposals.list().total == 0


def test_a_run_that_never_told_its_end(bench: Bench, agent: Actor, clock: FixedClock) -> None:
    """While it may be under way nobody runs it again; after a quarter of an hour somebody may."""
    id = stage(bench, agent)
    bench.core.db.rpc(
        "companion_decide_proposal",
        {"p_id": id, "p_to": "approved", "p_by": "user", "p_now": clock.at.isoformat(), "p_event": None}, read=False,
    )  # fmt: skip
    with pytest.raises(ProposalDecided, match="is being run"):
        bench.act.proposals.retry(id)
    clock.at += timedelta(seconds=901)
    assert bench.act.proposals.retry(id).succeeded and len(bench.runs) == 1


def test_who_decides(bench: Bench, agent: Actor) -> None:
    """No AI approves or rejects, not even its own; ids that are none are not there."""
    id = stage(bench, agent)
    with run_as(agent):
        for press in (bench.act.proposals.approve, bench.act.proposals.reject, bench.act.proposals.retry):
            with pytest.raises(Forbidden):
                press(id)
    for wrong in ("x", "00000000-0000-4000-8000-000000000000"):
        with pytest.raises(NotFound):
            bench.act.proposals.approve(wrong)


def test_listed(bench: Bench, agent: Actor) -> None:
    """By state, module and mission, newest first, in pages."""
    ids = [stage(bench, agent_of(f"m{n % 2}", "i"), str(n)) for n in range(5)]
    bench.act.proposals.reject(ids[0])
    proposals = bench.act.proposals
    assert [p.id for p in proposals.list().rows] == ids[:0:-1]
    assert [p.id for p in proposals.list("decided").rows] == ids[:1]
    assert [p.id for p in proposals.list(None, mission_id="m0").rows] == [ids[4], ids[2], ids[0]]
    assert proposals.list(modules=["other"]).total == 0
    page = proposals.list(limit=2, offset=1)
    assert ([p.id for p in page.rows], page.total) == ([ids[3], ids[2]], 4)


def test_an_erased_dialog_takes_its_proposals_along(bench: Bench, agent: Actor, dsn: str) -> None:
    """Pending and decided ones, with arguments and rationale; those of others stay."""
    from tests.support.dialogs import body

    for key in ("planted-key-1", "bystander"):
        bench.core.ingest.ingest(body(key))
    why = agent_of("mission-1", "i", "She wrote about the blue kayak.")
    gone = [stage(bench, why, f"the blue kayak {n}", "retitle", dialog_key="planted-key-1") for n in range(2)]
    bench.act.proposals.approve(gone[0])
    stays = stage(bench, agent, "another", "retitle", dialog_key="bystander")
    bench.core.events.flush()
    bench.core.erasures.erase("planted-key-1", "request")
    bench.core.events.flush()
    assert [p.id for p in bench.act.proposals.list(None).rows] == [stays]
    with psycopg.connect(dsn) as connection:
        for table in ("companion_proposals", "companion_proposal_dialogs", "companion_events"):
            rows = connection.execute(f"select to_jsonb(t)::text from {table} t").fetchall()
            assert rows and not [row for (row,) in rows if "blue kayak" in row or "planted-key" in row], table
    with pytest.raises(NotFound):
        bench.act.proposals.approve(gone[1])
    assert len(bench.runs) == 1


def test_a_merge_moves_a_proposal(bench: Bench, agent: Actor) -> None:
    """The proposal lives on under the key that is kept, and goes with it."""
    from core.memory.keys import both_keys
    from tests.support.dialogs import body

    bench.core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    bench.core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9"))
    kept, dropped = both_keys("ru-1", "tu-9")
    id = stage(bench, agent, "t", "retitle", dialog_key=dropped)
    done = bench.core.merges.merge(kept, dropped)
    assert bench.act.proposals.get(id).status == "pending"
    bench.core.merges.undo(done.merge_id)
    assert bench.act.proposals.get(id).status == "pending"
    bench.core.merges.merge(kept, dropped)
    bench.core.erasures.erase(kept, "request")
    assert bench.act.proposals.list(None).total == 0


def together(n: int, press: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=as_operator(press), args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def with_suppressed(act: Callable[[], Proposal]) -> None:
    with suppress(CoreError):
        act()
