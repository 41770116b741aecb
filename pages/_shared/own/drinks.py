"""The Drink page: a drink with one click or in one line, today's list, the week against the goal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from core.companion.records.drinks import MOST_ML, TYPES
from core.companion.records.quick_drink import drink
from pages._shared import layout
from pages._shared.feedback import stale
from pages._shared.layout import Figure, panel
from pages._shared.own import acting, reading, rows, week
from pages._shared.own.acting import Said
from pages._shared.resources import core
from pages._shared.zone import my_zone

PAGE = "drink"


def write(text: str, id: str) -> Said:
    found = drink(text)
    core().companion.records.drinks.log(found.drink_type, found.quantity_ml, name=found.name, id=id)
    return Said(True, found.says(), ("drinks", "delete", id))


def presets(page: str = PAGE) -> None:
    """One click, one drink: the id of the next one is made when the buttons are drawn."""
    with st.container(horizontal=True, gap="small"):
        for preset in reading.ask("drinks", "presets").value:
            st.button(
                f"{preset['name']} · {preset['quantity_ml']} ml",
                key=f"preset-{preset['id']}",
                icon=":material/add:",
                on_click=_log,
                args=(page, preset, acting.token(f"drink-{preset['id']}")),
            )


def figures(day: Any) -> None:
    water, coffee, other = day["water"], day["coffee"], day["other"]
    left = max(0, water["goal"] - water["ml"])
    layout.figures(
        Figure("Water (ml)", f"{water['ml']:,.0f}", None, f"of {water['goal']:,.0f}, {water['percent']} %"),
        Figure("Left to the goal (ml)", f"{left:,.0f}"),
        Figure("Coffee (cups)", str(coffee["count"]), None, f"{coffee['ml']:,.0f} ml"),
        Figure("Other drinks", str(other["count"]), None, f"{other['ml']:,.0f} ml"),
    )


def listing() -> None:
    with panel("Today", "Newest first."):
        read = reading.ask("drinks", "list", reading.today())
        stale(read)
        if not read.value:
            st.text("No drink is logged today. One click above, or a line like: 250 water")
        for entry in read.value:
            _row(entry)


def chart(goal: float) -> None:
    week.card(
        "Drinks in the last seven days (ml)",
        "Per local day; the line is the goal for water.",
        reading.week().value,
        {"water_ml": "Water", "coffee_ml": "Coffee", "other_ml": "Other"},
        "ml",
        key="drink-week",
        goal=goal,
    )


def goal(now: float) -> None:
    with (
        panel("Goal", "Water per day."),
        st.form("drink-goal", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.number_input("Water (ml a day)", 0, 20_000, int(now), 100, key=f"drink-goal-ml-{int(now)}", width=180)
        st.form_submit_button("Set", on_click=_set_goal, args=(now,))


def _row(entry: Any) -> None:
    id = entry["id"]
    at = datetime.fromisoformat(entry["at"]).astimezone(my_zone())
    plain = entry["name"].lower() == entry["drink_type"]
    kind = "" if plain else f" · {entry['drink_type']}"
    with rows.row(
        f"drink-{id}",
        entry["name"].capitalize() if plain else entry["name"],
        f"{at:%H:%M} · {entry['quantity_ml']:,} ml{kind}",
    ):
        if st.button("Edit", key=f"edit-{id}", type="tertiary"):
            _edit(entry)
        st.button("Delete", key=f"delete-{id}", type="tertiary", on_click=_delete, args=(entry,))


def _log(page: str, preset: Any, id: str) -> None:
    def do() -> Said:
        core().companion.records.drinks.log_preset(preset["id"], id=id)
        return Said(True, f"Logged: {preset['name']}, {preset['quantity_ml']} ml", ("drinks", "delete", id))

    acting.press(page, "Logging", do, key=f"preset-{preset['id']}", form=f"drink-{preset['id']}")


def _delete(entry: Any) -> None:
    def do() -> Said:
        core().companion.records.drinks.delete(entry["id"])
        words = f"Deleted: {entry['name']}, {entry['quantity_ml']} ml"
        return Said(True, words, ("drinks", "restore", entry["id"]))

    acting.press(PAGE, "Deleting", do, key=f"delete-{entry['id']}")


def _set_goal(before: float) -> None:
    ml = st.session_state[f"drink-goal-ml-{int(before)}"]

    def do() -> Said:
        if not core().companion.records.targets.set_water(ml):
            return Said(True, "The goal is this already.")
        return Said(True, f"The goal is {ml:,} ml water a day.", ("targets", "set_water", before))

    acting.press(PAGE, "The goal", do)


@st.dialog("Correct the drink")
def _edit(entry: Any) -> None:
    id = entry["id"]
    with st.form(f"drink-form-{id}", border=False):
        st.selectbox("Kind", TYPES, TYPES.index(entry["drink_type"]), key=f"kind-{id}")
        st.number_input("Amount (ml)", 1, MOST_ML, entry["quantity_ml"], 10, key=f"ml-{id}")
        if st.form_submit_button("Save", type="primary", on_click=_save, args=(entry,)):
            st.rerun()


def _save(entry: Any) -> None:
    id = entry["id"]
    kind, ml = st.session_state[f"kind-{id}"], st.session_state[f"ml-{id}"]

    def do() -> Said:
        made = core().companion.records.drinks.correct(id, kind, ml)
        back = ("drinks", "correct", made["id"], entry["drink_type"], entry["quantity_ml"])
        return Said(True, f"Corrected: {ml:,} ml {kind}", back)

    acting.press(PAGE, "Saving", do, key=f"save-{id}")
