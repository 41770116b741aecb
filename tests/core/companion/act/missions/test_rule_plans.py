"""Plans by rules: each one's rounds, on the real tools."""

from __future__ import annotations

from typing import Any

import pytest

from core.companion.act.missions.rule_plans import RULE_PLANS
from tests.support.missions import Field, last, make


def mission(field: Field, template: str) -> Any:
    missions = field.missions()
    made = make(missions, planner="rules", template=template)
    missions.run(made.id)
    return last(missions, made)


@pytest.mark.parametrize("template", RULE_PLANS)
def test_each_ends(field: Field, template: str) -> None:
    """On an empty desk each plan comes to an end, asks no model, and says what it found."""
    done = mission(field, template)
    assert done.status in ("approved", "awaiting-review") and done.tier == "rules" and done.summary
    assert {step.status for step in done.steps} <= {"approved", "staged", "failed"}


def test_nothing_to_embed_again(field: Field) -> None:
    """The look succeeds, the proposal is refused by its tool: nothing waits."""
    done = mission(field, "stale_vectors")
    assert [(s.tool, s.status) for s in done.steps][:2] == [
        ("memory_status", "approved"),
        ("reembed_chunks", "failed"),
    ]
    assert done.steps[1].message == "There is no chunk of another model."


def test_morning_with_something_broken(field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not well becomes a task that somebody has to approve."""
    from core.companion.contract import ToolResult

    tool = field.act.toolbox.find("run_health_check")
    facts = {"status": "down", "components": {"database": "ok", "gateway": "down"}}
    object.__setattr__(tool, "execute", lambda _: ToolResult(True, "Not well: gateway.", facts, facts))
    done = mission(field, "morning_check")
    assert done.status == "awaiting-review" and done.steps[-1].tool == "create_task"
    assert done.steps[-1].params["title"] == "Look at gateway"


def test_a_plan_of_another_version(field: Field) -> None:
    """One that this version does not have fails, and says so."""
    missions = field.missions()
    made = make(missions, planner="rules", template="morning_check")
    kept = missions.get(made.id)
    object.__setattr__(kept, "template", "gone")
    missions.get = lambda id: kept  # type: ignore[method-assign]
    assert missions.run(made.id) == "failed"
    assert (last(missions, made).error or {})["message"] == "This version has no such plan by rules."


def test_a_forbidden_tool(field: Field) -> None:
    """The operator's no holds for the plan by rules as well."""
    field.act.policies.override("deny", tool=field.act.toolbox.find("preview_cleanup"))
    done = mission(field, "weekly_cleanup")
    assert done.status == "failed" and "preview_cleanup is not allowed" in (done.error or {})["message"]
