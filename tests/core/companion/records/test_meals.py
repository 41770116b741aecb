"""Meals: type by hour, zero against not known, figures of the day, words that stay in the row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.records.meals import meal_type_at
from core.companion.records.records import Records
from core.errors import InputError

Told = Callable[..., list[Any]]


def test_type_by_hour() -> None:
    """5 to 11 breakfast, 11 to 14 lunch, 17 to 21 dinner, else a snack; each span ends before its upper hour."""
    expected = {4: "snack", 5: "breakfast", 10: "breakfast", 11: "lunch", 13: "lunch", 14: "snack", 16: "snack"}
    expected |= {17: "dinner", 20: "dinner", 21: "snack", 23: "snack", 0: "snack"}
    assert {hour: meal_type_at(hour) for hour in expected} == expected


def test_the_day(records: Records) -> None:
    """Zero calories are a value, None is not known; the percentage is capped; protein stands against its goal."""
    records.meals.log("tea", calories=0)
    records.meals.log("soup", calories=450.5, protein=20)
    unknown = records.meals.log("something")
    assert (unknown["calories"], unknown["meal_type"]) == (None, "snack")
    day = records.meals.day(records.today())
    assert day["meals"] == 3
    assert day["calories"] == {"actual": 450.5, "goal": 2000, "percent": 23}
    assert day["protein"] == {"actual": 20, "goal": 50}
    records.meals.log("feast", calories=9000)
    assert records.meals.day(records.today())["calories"]["percent"] == 100


def test_goals_that_are_none(records: Records, told: Told) -> None:
    """A protein goal that is none is not in the day; a calorie goal of zero divides nothing (PR-3)."""
    records.targets.set_food(daily_protein=None, daily_calories=0)
    records.meals.log("soup", calories=450)
    day = records.meals.day(records.today())
    assert "protein" not in day
    assert day["calories"]["percent"] == 0
    (event,) = told("NutritionGoalSet")
    assert (event["daily_calories"], event["before_calories"], event["daily_carbs"]) == (0, 2000, 275)
    assert "daily_protein" not in event


def test_words_stay_in_the_row(records: Records, told: Told, core: Core) -> None:
    """The event has figures, kind and id; neither the words nor the foods of a photo."""
    made = records.meals.log("borshch of my aunt", calories=450, protein=12.5)
    records.meals.log("aunt again", photo_media_id="p-1", confidence=0.8, foods=["aunts pie"], meal_type="dinner")
    assert told("MealLogged") == [
        {
            "meal_id": made["id"],
            "meal_type": "snack",
            "calories": 450,
            "protein": 12.5,
            "date": "2026-11-30",
            "time": "14:00",
            "input_type": "text",
        }
    ]
    assert told("MealFromPhotoLogged")[0]["foods"] == 1
    records.meals.delete(made["id"])
    assert told("MealDeleted")[0]["calories"] == 450
    assert "aunt" not in str(core.events.store.query(limit=50).rows)


def test_correcting(records: Records, clock: FixedClock, told: Told) -> None:
    """Logged anew at the same time, the old one deleted; the same again changes nothing."""
    meal = records.meals.log("soup", at=clock.now() - timedelta(hours=1), calories=100)
    assert records.meals.correct(meal["id"], "soup", "lunch", 100, None)["id"] == meal["id"]
    made = records.meals.correct(meal["id"], "soup", "lunch", 200, None)
    assert (made["at"], [row["calories"] for row in records.meals.list(records.today())]) == (meal["at"], [200])
    records.meals.restore(meal["id"])
    assert len(told("MealRestored")) == 1


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("description", {"description": " "}),
        ("meal_type", {"description": "x", "meal_type": "brunch"}),
        ("calories", {"description": "x", "calories": -1}),
        ("protein", {"description": "x", "protein": float("nan")}),
    ],
)
def test_fields_are_named(records: Records, field: str, values: dict[str, Any]) -> None:
    """Refused by the name of the field."""
    with pytest.raises(InputError) as refused:
        records.meals.log(**values)
    assert refused.value.field == field
