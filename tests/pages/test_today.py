"""The Today page: an empty day, a full one, a section that fails, quick entry with its way back, everything away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.records.meals import Meals
from core.db.client import Database
from core.errors import CoreError, DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR, ai
from pages._shared.own import acting
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]


def press(at: AppTest, label: str) -> AppTest:
    return calm(next(b for b in at.button if b.label.startswith(label)).click().run())


def away(*_: Any, **__: Any) -> Any:
    raise DatabaseUnavailable("The database does not answer.")


def test_empty(core: Core, open_page: Open) -> None:
    """Zeros, each with its next step; no proposal and no card of an AI."""
    shown = texts(calm(open_page("today")))
    for said in (
        "No task is open. Write one above.",
        "No appointment today.",
        "Nothing is logged today.",
        "No meal is logged today.",
        "No visit today.",
        "Nothing is stored yet.",
        "No sync is due today.",
        "No call is logged today.",
        "No goal yet.",
        "No streak runs now.",
    ):
        assert said in shown
    assert "UTC" in shown and "as of" in shown and "Approve" not in shown


def test_full(core: Core, open_page: Open) -> None:
    """What is there of each part, odd words as they stand; a goal, a streak and a proposal at a glance."""
    records, now = core.companion.records, core.companion.records.now()
    records.tasks.create(ODD, due_date=records.today())
    records.tasks.complete(records.tasks.create("Done")["id"])
    records.drinks.log("water", 750)
    records.drinks.log("coffee", 200)
    records.meals.log("Soup", calories=450)
    records.appointments.create("All the day", records.today(), records.today() + timedelta(1), is_all_day=True)
    if now.hour < 23:
        records.appointments.create(ODD, now + timedelta(minutes=50), now + timedelta(minutes=59))
    records.places.visit(records.places.create("Gym", 50.1, 30.2)["id"])
    core.companion.reflection.goals.add(LOCAL_OPERATOR, "drink.water-8")
    who = ai("planner", "Planner", mission_id="m", iteration_id="i", rationale="It is due.")
    core.companion.act.executor.call("create_task", {"title": "Asked for"}, actor=who)
    core.events.flush()
    at = calm(open_page("today"))
    shown = texts(at)
    assert ODD in [text.value for text in at.text]
    assert "All day: All the day" in shown and (now.hour == 23 or f"  {ODD}" in shown)
    bars = str([element.proto for element in at.get("progress")])
    assert "750 of 2,500 ml water, 30 %" in bars and "450 of 2,000 kcal" in bars and "1 of 8, 7 to go" in bars
    assert "Eight glasses of water a day" in shown and "1 day, record 1" in shown
    assert "Planner proposes this" in shown and {"Approve", "Gym"} <= {b.label for b in at.button}


def test_one_section_fails(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its own card, with its code and no word of what it was about; the rest of the day stands."""

    def fails(*_: Any) -> Any:
        raise CoreError("Row of ru-4711.")

    monkeypatch.setattr(Meals, "day", fails)
    shown = texts(calm(open_page("today")))
    assert "These figures cannot be shown now" in shown and "4711" not in shown
    assert "No appointment today." in shown and "No meal is logged today." not in shown


def test_quick_entry(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drink and a visit with one click, a task and a meal in one line; each can be taken back."""
    monkeypatch.setattr(acting, "DOUBLE_CLICK_S", 0.0)
    records = core.companion.records
    records.places.create("Gym", 50.1, 30.2)
    at = press(calm(open_page("today")), "Glass of water")
    assert records.drinks.day(records.today())["water"]["ml"] == 250
    at = press(at, "Undo")
    assert records.drinks.day(records.today())["water"]["ml"] == 0
    at = press(at, "Gym")
    assert records.places.day(records.today())["visited_today"] == 1
    at.text_input(key="today-task-line").set_value("Call Anna tomorrow !high")
    calm(next(b for b in at.button if b.label == "Add").click().run())
    assert records.tasks.list("open").rows[0]["priority"] == "high"
    at.text_input(key="today-meal-line").set_value("lunch soup 450 kcal")
    calm([b for b in at.button if b.label == "Add"][1].click().run())
    assert "Lunch: soup · 450 kcal" in texts(at)
    assert records.meals.day(records.today())["meals"] == 1
    press(at, "Undo")
    assert records.meals.day(records.today())["meals"] == 0


def test_away(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the database: what was last known is shown with its age, or every card says that it cannot be shown."""
    at = calm(open_page("today"))
    monkeypatch.setattr(Database, "rpc", away)
    monkeypatch.setattr(Database, "sample", away)
    core.companion.projections.invalidate()
    assert not at.run().exception
