"""Food as the companion sees it: reminders, tools, the calorie goal; no words of a meal leave the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.contract import At, Module, Rule, ToolResult
from core.companion.records.records import Records
from tests.core.companion.modules.conftest import context

Call = Callable[..., ToolResult]
Told = Callable[..., list[Any]]


def meals(number: int) -> dict[str, Any]:
    return {"meals": number, "calories": {"actual": 450 * number, "goal": 2000, "percent": 0}}


@pytest.mark.parametrize(
    ("hour", "number", "id"),
    [(12, 0, "12"), (13, 0, "12"), (12, 1, None), (19, 0, "19"), (19, 1, "19"), (20, 1, "19"), (19, 2, None)],
)
def test_reminder(rules: Mapping[str, Rule], hour: int, number: int, id: str | None) -> None:
    """At noon without a meal, in the evening with fewer than two; two ids, also when run late."""
    rule = rules["meal-reminder"]
    assert rule.trigger == At(((12, 0), (19, 0)))
    nudge = rule.check(context(hour, food=meals(number)))
    assert (nudge.id if nudge else None) == (f"meal-2026-11-30-{id}" if id else None)
    if nudge:
        assert nudge.priority == "low"
        assert rule.resolves(context(hour, food=meals(2)), nudge.id)
        assert not rule.resolves(context(hour, food=meals(0)), nudge.id)


def test_evening_says_what_there_was(rules: Mapping[str, Rule]) -> None:
    """Number and calories so far."""
    assert rules["meal-reminder"].check(context(19, food=meals(1))).body == "1 meal so far, 450 kcal."


def test_tools(call: Call) -> None:
    """Zero is a value; what goes to a model has no description; the module is sensitive throughout."""
    logged = call("log_meal", meal_type="snack", description="aunt's tea", calories="0")
    assert logged.data["calories"] == 0
    assert call("log_meal", meal_type="lunch", description="soup").data["calories"] is None
    assert "aunt" not in str(logged.llm_data) + logged.message
    assert call("get_nutrition_summary").data["meals"] == 2


def test_sensitive(modules: Mapping[str, Module]) -> None:
    """Class of the module and of each of its tools."""
    assert {modules["food"].content_class, *(tool.content_class for tool in modules["food"].tools)} == {"sensitive"}


def test_calories_reached_once(core: Core, records: Records, modules: Mapping[str, Module], told: Told) -> None:
    """Once a day, with goal and sum."""
    for type, handler in modules["food"].handlers.items():
        core.events.on(type, handler)
    for _ in range(4):
        records.meals.log("soup", calories=900)
    (event,) = told("DailyCalorieGoalReached")
    assert (event["date"], event["goal"]) == ("2026-11-30", 2000)
    assert event["actual"] in (2700, 3600)  # the handler may see the last meal already


def test_inverses(records: Records, undo: Callable[[str], ToolResult]) -> None:
    """A logged meal is deleted, a deleted one put back."""
    records.meals.log("soup", calories=100)
    assert undo("MealLogged").success
    assert records.meals.day(records.today())["meals"] == 0
    assert undo("MealDeleted").success
    assert records.meals.day(records.today())["meals"] == 1
