"""The order of a call: known, valid, allowed; then run, staged or refused. And what is told of it."""

from __future__ import annotations

from core.access.roles import ACTIONS, require
from core.companion.act.policy import PolicySet
from core.companion.contract import ModuleTool, ToolResult
from core.events.actor import LOCAL_OPERATOR, Actor, current_actor, system
from tests.core.companion.act.conftest import Bench


def test_unknown_tool(bench: Bench) -> None:
    """A name that is none, and no name at all."""
    for name in ("nothing", "", None, 3):
        result = bench.act.executor.call(name, {})  # type: ignore[arg-type]
        assert not result.success and not bench.runs


def test_people_and_the_product_always_may(bench: Bench) -> None:
    """Propose and deny are about AI alone."""
    for actor in (LOCAL_OPERATOR, system("rule"), None):
        for name in ("shelve", "burn"):
            assert bench.act.executor.call(name, {"title": "t"}, actor=actor).success
    assert [run[2] for run in bench.runs] == [LOCAL_OPERATOR] * 2 + [system("rule")] * 2 + [LOCAL_OPERATOR] * 2


def test_an_ai_reads_proposes_and_is_denied(bench: Bench, agent: Actor) -> None:
    """Auto runs as the AI, propose stages and does not run, deny does neither."""
    executor = bench.act.executor
    assert executor.call("look", {}, actor=agent).llm_data == {"n": 1}
    assert bench.runs == [("look", {}, agent)]
    staged = executor.call("shelve", {"title": "t"}, actor=agent)
    assert staged.success and "has not run" in staged.message
    refused = executor.call("burn", {"title": "t"}, actor=agent)
    assert not refused.success and "not for an AI" in refused.message
    assert len(bench.runs) == 1
    assert bench.act.proposals.list().total == 1


def test_invalid_arguments_are_never_staged(bench: Bench, agent: Actor) -> None:
    """Validation comes before policy, for everybody; the parameter is named."""
    for actor in (agent, LOCAL_OPERATOR):
        for params in ({}, {"title": "t", "size": 99}, {"title": "t", "colour": "red"}):
            assert not bench.act.executor.call("shelve", params, actor=actor).success
    assert "title" in bench.act.executor.call("shelve", {}, actor=agent).message
    assert bench.act.proposals.list(None).total == 0 and not bench.runs


def test_a_tool_that_breaks(bench: Bench, agent: Actor) -> None:
    """Success is false, and no word of what it raised reaches anybody."""
    bench.fails = True
    result = bench.act.executor.call("look", {}, actor=agent)
    assert not result.success and "ru-4711" not in str(result) and "hello" not in str(result)


def test_what_is_told(bench: Bench, agent: Actor) -> None:
    """One event a run or refusal, with the actor, and without arguments."""
    bench.act.executor.call("look", {}, actor=agent)
    bench.act.executor.call("burn", {"title": "t"}, actor=agent)
    bench.fails = True
    bench.act.executor.call("look", {}, actor=agent)
    bench.core.events.flush()
    rows = bench.core.events.store.query(type="CompanionToolCalled").rows[::-1]
    assert [(r.payload["tool"], r.payload["success"], r.payload.get("error_class")) for r in rows] == [
        ("look", True, None), ("burn", False, "refused"), ("look", False, "RuntimeError"),
    ]  # fmt: skip
    assert {r.actor for r in rows} == {agent} and all("title" not in r.payload for r in rows)


def test_what_is_allowed_inside(bench: Bench, agent: Actor) -> None:
    """A tool that an AI may run may do its own action, and no other one; afterwards none."""
    seen = []

    def execute(params: object) -> ToolResult:
        require(current_actor() or LOCAL_OPERATOR, "usage")
        seen.append([a for a in ACTIONS if _may(a)])
        return ToolResult(True, "")

    tool = ModuleTool("inside", "bench", "Inside", "Looks.", execute, "usage", "auto", "personal")
    bench.act.toolbox.register(tool)
    assert bench.act.executor.call("inside", {}, actor=agent).success
    assert seen == [["usage"]]


def _may(action: str) -> bool:
    from core.access.roles import allowed

    return allowed(current_actor() or LOCAL_OPERATOR, action)


def test_what_cannot_be_asked_now_is_not_staged(bench: Bench, agent: Actor) -> None:
    """`refuse` is asked before a run and before a proposal."""
    tool = ModuleTool("late", "bench", "Late", "Late.", lambda p: ToolResult(True, ""), "usage", "propose", "personal",
                      refuse=lambda p: "It is too late.")  # fmt: skip
    bench.act.toolbox.register(tool)
    for actor in (agent, LOCAL_OPERATOR):
        assert bench.act.executor.call("late", {}, actor=actor) == ToolResult(False, "It is too late.")
    assert bench.act.proposals.list(None).total == 0


def test_nobody_can_say(bench: Bench, agent: Actor) -> None:
    """Where the policy cannot be read an AI may do nothing."""
    bench.core.db.close()
    result = bench.act.executor.call("look", {}, actor=agent)
    assert not result.success and not bench.runs
    bench.act.policies.set_policy(PolicySet())
    assert bench.act.executor.call("look", {}, actor=agent).success
