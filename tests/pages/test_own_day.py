"""The pages Calendar, Food and Places: empty, full, written in one line, taken back, broken; the week by local days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.records.appointments import Appointments
from core.companion.records.meals import Meals
from core.companion.records.places import Places
from core.errors import DatabaseUnavailable
from pages._shared.own import acting, week
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]
CASES = {
    "calendar": ("Talk today 10:00-11:00 @ Room 4", "10:00 to 11:00", "Nothing is noted", Appointments),
    "food": ("lunch soup 450 kcal 20 g protein", "Lunch: soup · 450 kcal · 20 g protein", "No meal is logged", Meals),
    "places": ("Gym 50.45 30.52 !sport", "Place: Gym · 50.45, 30.52 · sport", "There is no place yet", Places),
}


@pytest.fixture(autouse=True)
def every_press_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test presses faster than a person."""
    monkeypatch.setattr(acting, "DOUBLE_CLICK_S", 0.0)


@pytest.mark.parametrize("page", CASES)
def test_written_and_taken_back(core: Core, open_page: Open, page: str) -> None:
    """An empty page says what to write; the line says what it was taken for; undo leaves nothing."""
    line, said, empty, _ = CASES[page]
    at = calm(open_page(page))
    assert empty in texts(at)
    at.text_input(key=f"{page}-line").set_value(line)
    next(b for b in at.button if b.label == "Add").click()
    calm(at.run())
    assert said in texts(at)
    assert empty not in texts(at)
    calm(at.button(key=f"undo-{page}").click().run())
    assert empty in texts(at)


@pytest.mark.parametrize("page", CASES)
def test_broken(core: Core, open_page: Open, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is said, and a retry offered."""

    def fails(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(CASES[page][3], "day", fails)
    assert "cannot be shown" in texts(calm(open_page(page)))


def test_calendar_full(core: Core, open_page: Open) -> None:
    """Text as it is, also that of a place; an all-day one over several days with its dates."""
    records = core.companion.records
    day = records.today()
    records.appointments.create(ODD, f"{day}T00:00", f"{day}T00:30", location=ODD)
    records.appointments.create("Trip", day, day + timedelta(3), is_all_day=True)
    at = calm(open_page("calendar"))
    assert ODD in [element.value for element in at.text]
    assert f"{day} to {day + timedelta(2)}" in texts(at)


def test_a_meal_is_corrected(core: Core, open_page: Open) -> None:
    """Calories that are cleared are not known; undo brings them back."""
    records = core.companion.records
    meal = records.meals.log(ODD, calories=100)
    at = calm(open_page("food"))
    assert ODD in [element.value for element in at.text]
    calm(at.button(key=f"edit-{meal['id']}").click().run())
    at.number_input(key=f"kcal-{meal['id']}").set_value(None)
    next(b for b in at.button if b.label == "Save").click()
    calm(at.run())
    assert records.meals.list(records.today())[0]["calories"] is None
    calm(at.button(key="undo-food").click().run())
    assert records.meals.list(records.today())[0]["calories"] == 100


def test_goals_for_food(core: Core, open_page: Open) -> None:
    """An empty field is no goal; undo brings the former ones back."""
    at = calm(open_page("food"))
    at.number_input(key="food-daily_protein-default").set_value(None)
    next(b for b in at.button if b.label == "Set").click()
    calm(at.run())
    assert core.companion.records.targets.get()["daily_protein"] is None
    calm(at.button(key="undo-food").click().run())
    assert core.companion.records.targets.get()["daily_protein"] == 50


def test_visits(core: Core, open_page: Open) -> None:
    """One click is a visit, distances are listed from the last position, a visit is taken back."""
    records = core.companion.records
    place = records.places.create("Gym", 50.45, 30.52)
    records.places.create("Far", 51.45, 30.52)
    at = calm(open_page("places"))
    calm(at.button(key=f"visit-of-{place['id']}").click().run())
    assert records.places.get(place["id"])["visit_count"] == 1
    assert "111.20 km away" in texts(at)
    calm(at.button(key="undo-places").click().run())
    assert records.places.get(place["id"])["visit_count"] == 0
    calm(at.button(key="tracking").click().run())
    assert "Tracking is on." in texts(at)


def test_days_are_texts() -> None:
    """Category texts in the order of the days, zeros where there is nothing: no browser shifts them (case 25)."""
    days = [{"day": f"2026-11-{n}", "water_ml": amount} for n, amount in ((28, 250), (29, 0), (30, 500))]
    figure = week.bars(days, {"water_ml": "Water"}, "ml", 2500)
    assert list(figure.data[0].x) == ["2026-11-28", "2026-11-29", "2026-11-30"]
    assert list(figure.data[0].y) == [250, 0, 500]
    assert figure.layout.xaxis.type == "category"
    assert list(figure.layout.xaxis.ticktext) == ["Sat 28", "Sun 29", "Mon 30"]
