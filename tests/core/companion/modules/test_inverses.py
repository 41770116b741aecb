"""What a tool that says it can be undone does, can be undone: every change in its events has an inverse that works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.act.validation import validate
from core.memory.keys import both_keys
from core.memory.requests import SearchRequest
from tests.support.companion import agent
from tests.support.dialogs import body

# Spec WB-3, and what section 18 adds.
WANTED = {
    *("TaskCreated", "TaskCompleted", "TaskUncompleted", "TaskRescheduled", "TaskDeleted"),
    *("CalendarEventCreated", "CalendarEventMoved", "PlaceCreated", "PlaceVisited"),
    *("DrinkLogged", "MealLogged", "FactLearned"),
    *("DialogKeysMerged", "UsageBudgetSet", "WrongContextReported"),
}


def task(core: Core) -> Mapping[str, Any]:
    return {"task_id": core.companion.records.tasks.create("Pay the bill")["id"]}


def matching(core: Core) -> Mapping[str, Any]:
    core.companion.records.tasks.create("Buy milk")
    return {"title_match": "milk"}


def visit(core: Core) -> Mapping[str, Any]:
    return {"place_id": core.companion.records.places.create("Office", 50.4, 30.5)["id"]}


def pair(core: Core) -> Mapping[str, Any]:
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9", messages=2))
    kept, dropped = both_keys("ru-1", "tu-9")
    return {"kept": kept, "dropped": dropped}


def wrong(core: Core) -> Mapping[str, Any]:
    core.ingest.ingest(body("the-dialog"))
    hit = core.search.search(SearchRequest("the-dialog", "chess")).hits[0]
    return {"dialog_key": "the-dialog", "chunk_ids": [hit.id], "reason": "stale"}


def plain(**params: Any) -> Callable[[Core], Mapping[str, Any]]:
    return lambda _: params


def due(core: Core) -> Mapping[str, Any]:
    task = core.companion.records.tasks.create("Pay the bill", due_date="2026-12-05")
    return {"task_id": task["id"], "minutes_before": 30}


CALLS: Mapping[str, Callable[[Core], Mapping[str, Any]]] = {
    "create_task": plain(title="Pay"),
    "complete_task": task,
    "complete_tasks_by_title": matching,
    "create_event": plain(title="Dentist", start_time="2026-12-01T10:00", end_time="2026-12-01T11:00"),
    "log_drink": plain(drink_type="water", quantity_ml=250),
    "log_meal": plain(description="Soup", meal_type="lunch"),
    "create_place": plain(name="Office", latitude=50.4, longitude=30.5),
    "visit_place": visit,
    "merge_dialog_keys": pair,
    "report_wrong_context": wrong,
    "set_token_budget": plain(value=5_000),
    "learn_fact": plain(
        category="pattern",
        content="Tasks on Mondays.",
        fact_key="monday-tasks",
        confidence=0.4,
        evidence=["todo.TaskCompleted"],
    ),
    "create_reminder": due,
    "create_goal": plain(title="Three tasks a day", event="TaskCompleted", value=3),
    "create_ritual": plain(
        title="Start", steps=[{"type": "info_display", "label": "Tasks", "config": {"source": "tasks_today"}}]
    ),
}


def test_every_inverse_there_has_to_be(core: Core) -> None:
    """Of the specification's list; each type once over all modules."""
    named = [type for module in core.companion.modules for type in module.inverses]
    assert set(named) >= WANTED and len(named) == len(set(named))


def test_every_reversible_tool_is_tried_here(core: Core) -> None:
    """One that no AI may run has nothing to take back."""
    tools = core.companion.act.toolbox.all()
    assert {t.name for t in tools if t.reversible and t.default_policy != "deny"} == set(CALLS)
    assert not [t.name for t in tools if t.reversible and t.read_only]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_reversible_tool_is_taken_back(core: Core, name: str) -> None:
    """Run by an AI, every change of it goes back; nothing fails, nothing is left over."""
    companion, tool = core.companion, core.companion.act.toolbox.find(name)
    assert tool is not None
    result = companion.act.executor.run(tool, validate(tool, CALLS[name](core)), agent())
    assert result.success, result.message
    assert core.events.flush()
    done = companion.act.reverts.revert("mission-1", "iteration-1")
    assert done.failures == () and done.skipped_unsupported == 0
    assert done.reverted == done.total >= 1
