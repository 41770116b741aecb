"""What the companion lets a model look at and propose: redacted reads, and changes that wait for a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.act.toolbox import schema
from core.companion.contract import Nudge, ToolResult
from core.companion.converse.chat.redaction import WITHHELD, told
from core.companion.converse.llm.aliases import Aliases
from core.companion.converse.llm.detector import why_sensitive
from core.companion.modules.companion import countable
from core.companion.reflect.facts import Learned
from core.companion.reflect.pulse.store import PulseStore
from core.events.actor import LOCAL_OPERATOR
from core.events.catalogue import EVENTS
from tests.support.companion import agent

STEP = {"type": "info_display", "label": "Tasks", "config": {"source": "tasks_today"}}
CHANGES = ("create_reminder", "create_goal", "create_ritual", "snooze_nudge")


def ask(core: Core, name: str, /, *, by_ai: bool = False, **given: Any) -> ToolResult:
    return core.companion.act.executor.call(name, given, actor=agent() if by_ai else None)


def show(core: Core, id: str, module: str) -> None:
    nudge = Nudge(id, "water_reminder", "Time", "Some", "low", module)
    PulseStore(core.db).done("water-reminder", None, core.clock.now(), [nudge])


def test_policies(core: Core) -> None:
    """Reads run, changes wait; what is told of them to a model may be told."""
    tools = {tool.name: tool for tool in core.companion.act.toolbox.of("companion")}
    assert set(tools) == {"read_context", "get_insights", "list_goals", *CHANGES}
    assert {name for name, tool in tools.items() if tool.default_policy == "propose"} == set(CHANGES)
    assert why_sensitive((), None, [json.dumps(schema(tool)) for tool in tools.values()]) is None


def test_reads_leave_out_what_is_sensitive(core: Core) -> None:
    """A person sees meals and their goals and nudges; a model is told nothing of them."""
    ask(core, "log_meal", meal_type="lunch", description="Soup", calories=700)
    ask(core, "create_goal", title="Three meals a day", event="MealLogged", value=3)
    ask(core, "create_goal", title="Five tasks a day", event="TaskCompleted", value=5)
    show(core, "meal-1", "food")
    show(core, "water-1", "drink")
    for name, shown, kept in (
        ("read_context", "Five tasks", "700"),
        ("get_insights", "water-1", "meal-1"),
        ("list_goals", "Five tasks", "Three meals"),
    ):
        result = ask(core, name, by_ai=True)
        assert result.success and kept in repr(result.data), name
        assert kept not in repr(result.llm_data) and shown in repr(result.llm_data), name


def test_insights_may_be_told(core: Core) -> None:
    """What is known of habits goes to a model, one private line apart from the rest."""
    learned = Learned("a", "relationship", "Coffee comes before the first appointment.", {}, ("drink",))
    core.companion.reflection.facts.learn(learned, actor=LOCAL_OPERATOR)
    show(core, "water-1", "drink")
    tool, result = core.companion.act.toolbox.find("get_insights"), ask(core, "get_insights", by_ai=True)
    why_not = core.companion.router.why_not
    said = told(tool, result, Aliases(), why_not)
    assert "Coffee comes before" in said and "water-1" in said and WITHHELD not in said
    private = Learned("b", "pattern", "See https://private.example/x on Mondays.", {}, ("todo",))
    core.companion.reflection.facts.learn(private, actor=LOCAL_OPERATOR)
    said = told(tool, ask(core, "get_insights", by_ai=True), Aliases(), why_not)
    assert "Coffee comes before" in said and WITHHELD in said and "private.example" not in said


def test_goals_by_status(core: Core) -> None:
    """Paused ones only where they are asked for."""
    ask(core, "create_goal", title="Five tasks a day", event="TaskCompleted", value=5)
    (goal,) = core.companion.reflection.goals.list(0)
    assert ask(core, "list_goals", status="paused").data == {"goals": []}
    core.companion.reflection.goals.change_status(LOCAL_OPERATOR, goal, "paused")
    assert ask(core, "list_goals").data == {"goals": []}
    assert [g["id"] for g in ask(core, "list_goals", status="paused").data["goals"]] == [goal.id]


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("create_goal", {"title": "Sum", "event": "TaskCompleted", "value": 3, "sum_field": "calories"}, "no field"),
        ("create_goal", {"title": "None", "event": "TaskCompleted", "value": 0}, "more than 0"),
        ("create_goal", {"title": "Foreign", "event": "CompanionMessageSent", "value": 1}, "none of the values"),
        ("create_ritual", {"title": "Empty", "steps": []}, "at least one step"),
        ("create_ritual", {"title": "Odd", "steps": [{**STEP, "config": {"source": "x"}}]}, "steps.1"),
        ("create_reminder", {"task_id": "7e0b7b6e-5f3c-4a39-9b70-0d0e8a1c2f00", "minutes_before": 5}, "no such task"),
        ("snooze_nudge", {"nudge_id": "gone"}, "no such nudge"),
    ],
)
def test_what_cannot_be_done_is_not_proposed(core: Core, name: str, given: dict[str, Any], why: str) -> None:
    """An AI is told at once, and nobody is asked."""
    result = ask(core, name, by_ai=True, **given)
    assert not result.success and why in result.message.lower()
    assert core.companion.act.proposals.list().total == 0


def test_a_task_without_a_day_has_no_reminder(core: Core) -> None:
    """Said before anybody is asked."""
    task = core.companion.records.tasks.create("Some day")
    result = ask(core, "create_reminder", by_ai=True, task_id=task["id"], minutes_before=5)
    assert not result.success and "no day" in result.message


def test_a_goal_of_this_title_is_made_once(core: Core) -> None:
    """The second one is refused."""
    given = {"title": "Five tasks a day", "event": "TaskCompleted", "value": 5}
    assert ask(core, "create_goal", **given).success
    assert "already" in ask(core, "create_goal", **given).message
    assert len(core.companion.reflection.goals.list(0)) == 1


def test_an_approved_routine_is_there_and_a_nudge_is_away(core: Core) -> None:
    """Nothing before the yes."""
    companion = core.companion
    show(core, "water-1", "drink")
    assert ask(core, "create_ritual", by_ai=True, title="Start", trigger="morning", steps=[STEP]).success
    assert ask(core, "snooze_nudge", by_ai=True, nudge_id="water-1", minutes=30).success
    assert not companion.routines.rituals.list() and companion.reflection.nudges.open()
    for proposal in companion.act.proposals.list().rows:
        assert companion.act.proposals.approve(proposal.id).result["success"]
    (ritual,) = companion.routines.rituals.list()
    assert (ritual.title, ritual.trigger, len(ritual.steps)) == ("Start", "morning", 1)
    assert not companion.reflection.nudges.open()


def test_every_event_that_can_be_counted_is_of_a_module(core: Core) -> None:
    """A goal belongs to the part whose event it counts."""
    events = countable(core.companion.modules)
    assert len(events) > 15 and {EVENTS[e].app_id for e in events} <= {m.name for m in core.companion.modules}
