"""What can be made a goal of: every fault names its field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.companion.contract import GoalMetric, GoalTarget
from core.companion.reflect.goals.draft import Draft, checked, number_fields, shared_fields
from core.errors import InputError
from tests.support.companion_goals import CALORIES, TASKS

GOOD = Draft("id", " Five  tasks ", "todo", TASKS, GoalTarget(5, "day"))


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("title", {"title": "  "}),
        ("title", {"title": "x" * 61}),
        ("module", {"module": ""}),
        ("description", {"description": "x" * 501}),
        ("value", {"target": GoalTarget(0, "day")}),
        ("value", {"target": GoalTarget(-1, "day", "lte")}),
        ("value", {"target": GoalTarget(float("nan"), "day")}),
        ("period", {"target": GoalTarget(1, "year")}),  # type: ignore[arg-type]
        ("comparison", {"target": GoalTarget(1, "day", "about")}),  # type: ignore[arg-type]
        ("events", {"metric": GoalMetric("event_count")}),
        ("events", {"metric": GoalMetric("event_count", ("NoSuchEvent",))}),
        ("minus", {"metric": GoalMetric("event_count", ("TaskCompleted",), ("TaskCompleted",))}),
        ("sum_field", {"metric": GoalMetric("event_sum", ("MealLogged",))}),
        ("sum_field", {"metric": GoalMetric("event_sum", ("MealLogged",), sum_field="mood")}),
        ("filter_field", {"metric": replace(TASKS, filter_field="mood", filter_value="x")}),
        ("filter_field", {"metric": GoalMetric("event_count", ("SearchEmpty",), (), "dialog_key", "k")}),
        ("filter_value", {"metric": GoalMetric("event_count", ("MealLogged",), (), "meal_type")}),
        ("distinct_field", {"metric": replace(CALORIES, distinct_field="meal_type")}),
        ("name", {"metric": GoalMetric("custom", name="no.such")}),
        ("name", {"metric": GoalMetric("streak_days", name="no")}),
        ("period", {"metric": GoalMetric("custom", name="a.b"), "target": GoalTarget(1, "week")}),
    ],
)
def test_faults_name_their_field(field: str, changes: dict[str, Any]) -> None:
    """One fault, one field."""
    with pytest.raises(InputError) as fault:
        checked(replace(GOOD, **changes), metrics=("a.b",), streaks=("s",))
    assert fault.value.field == field


def test_what_is_good() -> None:
    """Trimmed; a limit of 0 is one; a named figure that there is."""
    assert checked(GOOD).title == "Five tasks"
    assert checked(replace(GOOD, target=GoalTarget(0, "day", "lte"))).target.value == 0
    assert checked(replace(GOOD, metric=GoalMetric("custom", name="a.b")), metrics=("a.b",))


def test_fields_that_events_share() -> None:
    """Of several events those that all of them have; numbers can be added up."""
    assert "calories" in number_fields(("MealLogged", "MealDeleted"))
    assert "meal_type" not in number_fields(("MealLogged",))
    assert "calories" not in shared_fields(("MealLogged", "TaskCompleted"))
