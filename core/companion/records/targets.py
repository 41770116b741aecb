"""The daily goals for water and food, and what happens once a day when one is reached."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from core.companion.records import checks
from core.companion.records.ledger import Ledger, new_id
from core.events.actor import system
from core.events.event import Event

TABLE = "companion_nutrition_goals"
FOOD = ("daily_calories", "daily_protein", "daily_carbs", "daily_fat", "daily_fibre", "daily_sugar")
WATER = "daily_water_ml"
MOST = 20_000


class Targets:
    """What a day should hold: kcal, grams, ml. Thread-safe. Errors: InputError naming the field, DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def get(self) -> Mapping[str, Any]:
        """What holds now, by column; the defaults of the specification where nobody has set any."""
        found: Mapping[str, Any] = self._ledger.read("companion_nutrition_goal")
        return found

    def water_ml(self) -> float:
        return float(self.get()[WATER])

    def set_water(self, ml: float, *, id: str | None = None) -> bool:
        """Whether it is another goal than before."""
        return self._set({WATER: checks.amount(ml, "goal_ml", most=MOST)}, id)

    def set_food(self, *, id: str | None = None, **given: float | None) -> bool:
        """Any of FOOD; a goal that is None is none, except for calories."""
        unknown = set(given) - set(FOOD)
        if unknown:
            raise ValueError(f"there is no goal {', '.join(sorted(unknown))}")
        optional = {name for name in FOOD if name != "daily_calories"}
        return self._set(
            {
                name: None if value is None and name in optional else checks.amount(value, name, most=MOST)
                for name, value in given.items()
            },
            id,
        )

    def put_back(self, former: Mapping[str, float | None]) -> bool:
        """Food goals as they were."""
        return self._set({name: former[name] for name in FOOD if name in former}, None)

    def _set(self, values: Mapping[str, float | None], id: str | None) -> bool:
        row_id = new_id(id)
        answer = self._ledger.write("companion_set_nutrition_goals", id=row_id, set=dict(values))
        if answer["outcome"] != "set":
            return False
        row, before = answer["row"], answer["before"]
        if WATER in values:
            self._ledger.emit("DrinkGoalSet", TABLE, row_id, goal_ml=row[WATER], before_ml=before[WATER])
        if set(values) & set(FOOD):
            former = {"before_calories": before["daily_calories"], "before_protein": before["daily_protein"]}
            self._ledger.emit(
                "NutritionGoalSet", TABLE, row_id, goal_id=row_id, **{name: row[name] for name in FOOD}, **former
            )
        return True

    def water_reached(self, event: Event) -> None:
        """Handler of drinks: says once a day that the water goal is reached."""
        day = date.fromisoformat(event.payload["date"])
        water = self._ledger.read("companion_drink_day", day=day)["water"]
        facts = {"date": day, "goal_ml": water["goal"], "actual_ml": water["ml"], "drink_type": "water"}
        self._once("DrinkGoalReached", day, water["ml"], water["goal"], facts, event)

    def calories_reached(self, event: Event) -> None:
        """Handler of meals: says once a day that the calorie goal is reached."""
        day = date.fromisoformat(event.payload["date"])
        kcal = self._ledger.read("companion_food_day", day=day)["calories"]
        facts = {"date": day, "goal": kcal["goal"], "actual": kcal["actual"]}
        self._once("DailyCalorieGoalReached", day, kcal["actual"], kcal["goal"], facts, event)

    def _once(self, type: str, day: date, actual: float, goal: float, facts: Mapping[str, Any], cause: Event) -> None:
        if not 0 < goal <= actual:
            return
        events = self._ledger.events
        reached = events.prepare(type, facts, actor=system("projection"), caused_by=cause.meta.id)
        if self._ledger.claim(type, day, reached.row()):
            events.announce(reached)
