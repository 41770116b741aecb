"""One run: phases, verdicts, rounds, what ends it; every step through policy and executor."""

from __future__ import annotations

from typing import Any

import pytest

from core.companion.act.missions import guardrails
from core.companion.act.missions.mission import Input
from core.companion.act.missions.plan import Plan, PlanError, PlannedStep
from core.companion.act.missions.runner import BROKEN
from core.companion.act.missions.situation import PlannerUnavailable, Situation
from core.events.actor import LOCAL_OPERATOR
from tests.support.missions import Field, Scripted, last, make, plan


def run(field: Field, *script: Any, **changes: Any) -> tuple[Any, Scripted, Any]:
    planner = Scripted(*script)
    missions = field.missions(planner)
    mission = make(missions, **changes)
    missions.run(mission.id)
    return last(missions, mission), planner, missions


def test_reads_feed_the_next_round(field: Field) -> None:
    """A tool that may run runs as the AI; its redacted result is what the planner sees next, and nothing else of it."""
    done, planner, _ = run(field, plan("look"), plan(summary="All is tidy."))
    assert (done.status, done.phase, done.summary, done.tier) == ("approved", "finalizing", "All is tidy.", "server")
    assert [(s.id, s.status, s.message) for s in done.steps] == [(f"{done.id}-1", "approved", "look: done.")]
    assert [r.data for r in planner.seen[1].results] == [{"n": 1}] and planner.seen[1].round == 2
    ((_, _, actor),) = field.runs
    assert actor is not None and (actor.kind, actor.iteration_id, actor.rationale) == ("ai", done.id, "Why look.")


def test_a_proposal_ends_the_rounds(field: Field) -> None:
    """What a person has to say yes to is staged, not run, and waits with the step's reason; no round follows."""
    done, planner, missions = run(field, plan("look", "shelve"), plan("look"))
    assert done.status == "awaiting-review" and len(planner.seen) == 1
    assert [s.status for s in done.steps] == ["approved", "staged"] and [r[0] for r in field.runs] == ["look"]
    proposal = field.act.proposals.get(done.steps[1].proposal_id)
    assert (proposal.rationale, proposal.iteration_id) == ("Why shelve.", done.id)
    assert missions.list()[0].waiting == 1


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ((plan(),), "approved"),
        ((plan("fail"), plan("fail"), plan()), "failed"),
        ((plan("fail", "look"), plan()), "approved"),
        ((plan("fail", "shelve"),), "awaiting-review"),
    ],
)
def test_verdicts(field: Field, script: Any, status: str) -> None:
    """No step: approved; all failed: failed; any staged: to be reviewed; else approved. One failing step stops none."""
    done, _, _ = run(field, *script)
    assert done.status == status
    assert not any("ru-4711" in step.message for step in done.steps)


@pytest.mark.parametrize(
    ("fault", "name", "words"),
    [
        (PlanError("steps are missing"), "PlanError", "Steps are missing."),
        (PlannerUnavailable("No model planned this."), "PlannerUnavailable", "No model planned this."),
        (RuntimeError("quotes ru-4711"), "RuntimeError", BROKEN),
    ],
)
def test_a_planner_that_throws(field: Field, fault: Exception, name: str, words: str) -> None:
    """The run is failed, with the message and the phase in which it was; foreign words are not kept."""
    done, _, missions = run(field, fault)
    assert done.status == "failed" and done.error == {"name": name, "message": words, "phase": "calling-llm"}
    assert missions.list()[0].fail_count == 1 and missions.list()[0].lease_until is None


def test_a_denied_tool_is_not_offered_and_not_run(field: Field) -> None:
    """Nor is it where a planner asks for it all the same: the plan is refused as a whole, nothing is staged."""
    done, planner, _ = run(field, plan("burn"))
    assert "burn" not in {tool.name for tool in planner.seen[0].tools} and not field.runs
    assert done.status == "failed" and not done.steps


def test_denied_between_plan_and_step(field: Field) -> None:
    """A no of the operator holds at once: the executor asks policy again."""

    def forbid(situation: Situation) -> Plan:
        field.act.policies.override("deny", tool=field.act.toolbox.find("look"))
        return plan("look")

    done, _, _ = run(field, forbid, plan())
    assert done.status == "failed" and not field.runs and "not for an AI" in done.steps[0].message


def test_five_rounds_at_most(field: Field) -> None:
    """The last one is told so."""
    done, planner, _ = run(field, *[plan("look")] * 9)
    assert len(planner.seen) == guardrails.ROUNDS_MOST and done.status == "approved"
    assert "This is the last round." in planner.seen[-1].notes


def test_told_to_stop_after_two_failures(field: Field) -> None:
    """From the third round on."""
    _, planner, _ = run(field, plan("fail"), plan("fail"), plan())
    assert not planner.seen[1].notes and any("Stop now" in note for note in planner.seen[2].notes)


def test_once_in_a_plan(field: Field) -> None:
    """A second call of such a tool is left out, with a warning; an empty required text is not run."""
    blank = PlannedStep("", "shelve", {"title": "  "}, "Why")
    twice = plan("once", "once")
    done, _, _ = run(field, Plan("", (*twice.steps, blank)))
    assert [s.status for s in done.steps] == ["staged", "skipped", "failed"]
    assert (
        done.notices == ("Once was asked for twice; a run does it once.",)
        and done.steps[2].message == "title is empty."
    )


def test_what_is_staged_is_not_staged_again(field: Field) -> None:
    """The same call, or the one call of a plan with other arguments, finds the proposal that waits."""
    missions = field.missions(Scripted(plan("once", "shelve"), plan(("once", {"title": "other"}), "shelve")))
    mission = make(missions)
    missions.run(mission.id)
    first = last(missions, mission)
    field.later(minutes=1)
    missions.run(mission.id)
    second = last(missions, mission)
    assert [s.proposal_id for s in first.steps] == [s.proposal_id for s in second.steps]
    assert field.act.proposals.list("pending", mission_id=mission.id).total == 2
    assert second.status == "awaiting-review"


def test_cancel_between_phases_and_before_a_tool(field: Field) -> None:
    """Nothing runs after somebody cancelled; the mission keeps its count of failures."""
    missions: Any = None

    def cancel(situation: Situation) -> Plan:
        run = missions.iterations(situation.mission.id).rows[0]
        assert run.status == "running" and missions.cancel(LOCAL_OPERATOR, run.id)
        return plan("look")

    missions = field.missions(Scripted(cancel))
    mission = make(missions)
    assert missions.run(mission.id) == "failed"
    done = last(missions, mission)
    assert done.error is not None and done.error["name"] == "Cancelled" and done.error["phase"] == "parsing-response"
    assert not field.runs and missions.get(mission.id).fail_count == 0
    assert not missions.cancel(LOCAL_OPERATOR, done.id)


def test_too_long(field: Field) -> None:
    """After 180 seconds it ends at the next phase, failed."""
    ticks = iter([0.0, 1.0, 2.0])
    missions = field.missions(Scripted(plan("look")))
    missions._runner._timer = lambda: next(ticks, 200.0)
    mission = make(missions)
    assert missions.run(mission.id) == "failed"
    assert (last(missions, mission).error or {})["name"] == "Timeout" and missions.get(mission.id).fail_count == 1


def test_the_last_three_runs_and_what_was_said_of_them(field: Field) -> None:
    """Newest first, with the reasons of rejections and of people; the running one is not among them."""
    planner = Scripted(plan("shelve"), plan("look"), plan(), plan(), plan())
    missions = field.missions(planner)
    mission = make(missions)
    missions.run(mission.id)
    rejected = last(missions, mission)
    field.act.proposals.reject(rejected.steps[0].proposal_id or "", "Not on Mondays")
    missions.feedback(LOCAL_OPERATOR, rejected, "Not on Mondays\nBe brief")
    field.later(minutes=1)
    missions.run(mission.id)
    (seen,) = planner.seen[1].history
    assert (seen.status, seen.steps[0].status, seen.feedback) == ("rejected", "rejected", "Not on Mondays\nBe brief")
    for _ in range(3):
        field.later(minutes=1)
        missions.run(mission.id)
    assert len(planner.seen[-1].history) == 3


def test_two_reasons_are_both_kept(field: Field) -> None:
    """Each rejection appends its line; once nothing waits the run is rejected, or approved where one was."""
    missions = field.missions(
        Scripted(plan("shelve", ("shelve", {"title": "u"})), plan("shelve", ("shelve", {"title": "u"})))
    )
    mission = make(missions)
    missions.run(mission.id)
    first, second = last(missions, mission).steps
    field.act.proposals.reject(first.proposal_id or "", "One")
    assert last(missions, mission).status == "awaiting-review"
    field.act.proposals.reject(second.proposal_id or "", " Two ")
    done = last(missions, mission)
    assert (done.status, done.feedback) == ("rejected", "One\nTwo")
    field.later(minutes=1)
    missions.run(mission.id)
    first, second = last(missions, mission).steps
    field.act.proposals.reject(first.proposal_id or "")
    field.act.proposals.approve(second.proposal_id or "")
    done = last(missions, mission)
    assert done.status == "approved" and [s.status for s in done.steps] == ["rejected", "approved"]
    assert done.steps[1].message == "shelve: done." and done.feedback is None


def test_inputs_too_large(field: Field) -> None:
    """Beyond 100,000 characters nothing is planned."""
    missions = field.missions(planner := Scripted(plan("look")))
    source = missions.sources._sources[("usage", "summary")]
    object.__setattr__(source, "resolve", lambda ref: ("", "x" * 100_001))
    mission = make(missions, inputs=(Input("usage", "summary", "week"),))
    assert missions.run(mission.id) == "failed" and not planner.seen
    assert (last(missions, mission).error or {})["name"] == "Blocked"


def test_tokens_of_the_day(field: Field) -> None:
    """From 75 % on the prompt says so, at 100 % nothing is asked."""
    missions = field.missions(planner := Scripted(plan("look"), plan()))
    spent = iter([700, 760, 1000])
    missions._runner._tokens = lambda mission, since: next(spent)
    mission = make(missions, token_budget=1000)
    missions.run(mission.id)
    assert not planner.seen[0].notes and "760 of 1,000" in planner.seen[1].notes[0]
    field.later(minutes=1)
    assert missions.run(mission.id) == "failed" and len(planner.seen) == 2
    assert "used up for today" in (last(missions, mission).error or {})["message"]


def test_the_event(field: Field, told: Any) -> None:
    """One a run, with counts and no words, by the runner; the start is told by whoever started it."""
    done, _, _ = run(field, plan("look", "fail"), plan())
    (event,) = told("MissionIterationFinished", whole=True)
    assert event.actor.principal_id == "system:mission-runner"
    assert event.payload == {
        **{"mission_id": done.mission_id, "iteration_id": done.id, "status": "approved", "phase": "finalizing"},
        **{"source": "foreground", "steps": 2, "approved": 1, "failed": 1, "failures": 0, "paused": False},
    }
    (started,) = told("MissionRunStarted", whole=True)
    assert started.actor == LOCAL_OPERATOR and started.payload["iteration_id"] == done.id
