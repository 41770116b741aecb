"""The Food page: a meal in one line, today's list, the week against the goal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from core.companion.records import quick
from core.companion.records.meals import TYPES
from pages._shared import layout
from pages._shared.feedback import stale
from pages._shared.layout import Figure, panel
from pages._shared.own import acting, reading, rows, week
from pages._shared.own.acting import Said
from pages._shared.resources import core
from pages._shared.zone import my_zone

PAGE = "food"
GOALS = {
    "daily_calories": "Calories (kcal)",
    "daily_protein": "Protein (g)",
    "daily_carbs": "Carbs (g)",
    "daily_fat": "Fat (g)",
    "daily_fibre": "Fibre (g)",
    "daily_sugar": "Sugar (g)",
}


def write(text: str, id: str) -> Said:
    found = quick.meal(text, core().companion.records.now().time())
    core().companion.records.meals.log(
        found.description, meal_type=found.meal_type, calories=found.calories, protein=found.protein, id=id
    )
    return Said(True, found.says(), ("meals", "delete", id))


def figures(day: Any) -> None:
    kcal, protein = day["calories"], day.get("protein")
    shown = [
        Figure("Meals", str(day["meals"])),
        Figure("Calories (kcal)", f"{kcal['actual']:,.0f}", None, f"of {kcal['goal']:,.0f}, {kcal['percent']} %"),
    ]
    if protein:
        shown.append(Figure("Protein (g)", f"{protein['actual']:,.0f}", None, f"of {protein['goal']:,.0f}"))
    layout.figures(*shown)


def listing() -> None:
    with panel("Today", "Newest first. What was eaten stays in this list: events and models get figures alone."):
        read = reading.ask("meals", "list", reading.today())
        stale(read)
        if not read.value:
            st.text("No meal is logged today. Write one above, like: lunch soup 450 kcal")
        for meal in read.value:
            _row(meal)


def chart(goal: float) -> None:
    week.card(
        "Calories in the last seven days (kcal)",
        "Per local day, of the meals whose calories are known.",
        reading.week().value,
        {"calories": "Calories"},
        "kcal",
        key="food-week",
        goal=goal,
    )


def goals() -> None:
    """What a day should hold; an empty field is no goal."""
    now = reading.ask("targets", "get").value
    version = now.get("id", "default")
    with panel("Goals", "Per day. An empty field is no goal."), st.form("food-goals", border=False):
        for start in range(0, len(GOALS), 3):
            for cell, name in zip(st.columns(3), list(GOALS)[start : start + 3], strict=True):
                with cell:
                    _clearable(GOALS[name], now[name], 20_000.0, f"food-{name}-{version}")
        st.form_submit_button("Set", on_click=_set_goals, args=(now, version))


def _row(meal: Any) -> None:
    id = meal["id"]
    at = datetime.fromisoformat(meal["at"]).astimezone(my_zone())
    kcal = "calories not known" if meal["calories"] is None else f"{meal['calories']:,g} kcal"
    protein = "" if meal["protein"] is None else f" · {meal['protein']:,g} g protein"
    says = f"{at:%H:%M} · {kcal}{protein}"
    with rows.row(f"meal-{id}", meal["description"], says, (meal["meal_type"], "gray")):
        if st.button("Edit", key=f"edit-{id}", type="tertiary"):
            _edit(meal)
        st.button("Delete", key=f"delete-{id}", type="tertiary", on_click=_delete, args=(id,))


def _delete(id: str) -> None:
    def do() -> Said:
        core().companion.records.meals.delete(id)
        return Said(True, "The meal is deleted.", ("meals", "restore", id))

    acting.press(PAGE, "Deleting", do, key=f"delete-{id}")


def _set_goals(now: Any, version: str) -> None:
    given = {name: st.session_state[f"food-{name}-{version}"] for name in GOALS}
    before = {name: now[name] for name in GOALS}

    def do() -> Said:
        if not core().companion.records.targets.set_food(**given):
            return Said(True, "The goals are these already.")
        return Said(True, "The goals are set.", ("targets", "put_back", before))

    acting.press(PAGE, "The goals", do)


@st.dialog("Correct the meal")
def _edit(meal: Any) -> None:
    id = meal["id"]
    with st.form(f"meal-form-{id}", border=False):
        st.selectbox("Meal", TYPES, TYPES.index(meal["meal_type"]), key=f"kind-{id}")
        st.text_area("What", meal["description"], max_chars=4000, key=f"words-{id}")
        _clearable("Calories (kcal)", meal["calories"], 20_000.0, f"kcal-{id}")
        _clearable("Protein (g)", meal["protein"], 2_000.0, f"protein-{id}")
        if st.form_submit_button("Save", type="primary", on_click=_save, args=(meal,)):
            st.rerun()


def _save(meal: Any) -> None:
    id = meal["id"]
    kind, words, kcal, protein = (st.session_state[f"{key}-{id}"] for key in ("kind", "words", "kcal", "protein"))
    former = tuple(meal[name] for name in ("description", "meal_type", "calories", "protein"))

    def do() -> Said:
        made = core().companion.records.meals.correct(id, words, kind, kcal, protein)
        return Said(True, "The meal is corrected.", ("meals", "correct", made["id"], *former))

    acting.press(PAGE, "Saving", do, key=f"save-{id}")


def _clearable(label: str, value: float | None, most: float, key: str) -> None:
    """A number that can be emptied again: a field that began with a value would jump back to it."""
    if key not in st.session_state:
        st.session_state[key] = None if value is None else float(value)
    st.number_input(label, 0.0, most, None, 1.0, "%g", key)
