"""Plans out of answers of models."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.companion.act.missions.plan import PlanError, read_plan

STEP = {"summary": "look", "tool_name": "usage_summary", "params": {"range": "7d"}, "rationale": "to know"}
ALLOWED = {"usage_summary", "create_task"}


def text(**change: Any) -> str:
    return json.dumps({"summary": "s", "steps": [{**STEP, **change}]})


@pytest.mark.parametrize(
    "answer",
    [
        text(),
        f"```json\n{text()}\n```",
        f"Here it is:\n```\n{text()}\n```\nDone.",
        f"For {{RU}} I suggest\n```json\n{{}}\n```\nand then\n```json\n{text()}\n```",
        f"I think so. {text()} That is all.",
        f"```json\n{text()}\n```\n```json\n{text()}\n```",
    ],
)
def test_the_one_plan_is_found(answer: str) -> None:
    """In a fence, bare, among prose, beside an empty one, or twice the same."""
    plan = read_plan(answer, ALLOWED)
    assert [s.tool for s in plan.steps] == ["usage_summary"] and plan.steps[0].params == {"range": "7d"}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("I would look at the usage.", "no JSON"),
        ("", "no JSON"),
        ('the "steps" are clear', "no JSON"),
        (f"```json\n{text()[:-3]}\n```", "not valid"),
        (text()[:-10], "not valid"),
        (text().replace("}]", "},]"), "not valid"),
        ("[1]", "top level"),
        ('{"summary": "s"}', "steps are missing"),
        ('{"steps": {}}', "not a list"),
        ('{"steps": ["x"]}', "step 1 is not an object"),
        (text(tool_name=None), "names no tool"),
        (text(tool_name="delete_dialog_memory"), "delete_dialog_memory is not allowed"),
        (text(rationale=None), "no rationale"),
        (text(rationale="  "), "no rationale"),
        (text(params=["a"]), "are a list"),
        (json.dumps({"steps": [STEP] * 6}), "more than 5"),
        (json.dumps({"steps": [STEP, {**STEP, "tool_name": "x"}]}), "step 2"),
        (f"```json\n{text()}\n```\n```json\n{text(summary='other')}\n```", "several plans"),
        (f"For {{RU}} I suggest\n```json\n{{}}\n```\n```json\n{text()[:-1]},}}\n```", "not valid"),
    ],
)
def test_anything_else_is_rejected_whole(answer: str, why: str) -> None:
    """With the reason, and nothing of it is used."""
    with pytest.raises(PlanError, match=why):
        read_plan(answer, ALLOWED)


def test_defaults() -> None:
    """Summaries may be missing, parameters may be none; no steps is a plan."""
    plan = read_plan(json.dumps({"steps": [{"tool_name": "create_task", "rationale": "r", "params": "x"}]}), ALLOWED)
    assert (plan.summary, plan.steps[0].summary, plan.steps[0].params) == ("", "", {})
    assert read_plan('{"steps": []}', ALLOWED).steps == ()


def test_a_tool_that_would_be_a_text_is_not_repeated() -> None:
    """The reason goes to people and back to the model."""
    with pytest.raises(PlanError) as refused:
        read_plan(text(tool_name="drop all; and more words"), ALLOWED)
    assert "drop all" not in str(refused.value)
