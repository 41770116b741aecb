"""One line -> task, appointment, meal, place; and what was understood of it."""

from __future__ import annotations

from datetime import date, time
from zoneinfo import ZoneInfo

import pytest

from core.companion.records import quick
from core.errors import InputError

MONDAY = date(2026, 11, 30)
KYIV = ZoneInfo("Europe/Kyiv")


def test_task() -> None:
    """Day and mark are taken out, wherever they stand; other signs stay."""
    found = quick.task("Call Anna tomorrow !high", MONDAY)
    assert (found.title, found.due_date, found.priority) == ("Call Anna", date(2026, 12, 1), "high")
    assert found.says(MONDAY) == "Task: Call Anna · due tomorrow · high priority"
    odd = quick.task("!low Wow! pay $5 _now_ !soon", MONDAY)
    assert (odd.title, odd.due_date, odd.priority) == ("Wow! pay $5 _now_ !soon", None, "low")


def test_appointment() -> None:
    """With a span, with a length, with an hour by default, all day without a time; the place after an @."""
    talk = quick.appointment("Dentist friday 14:00-14:30 @ Main street 5", MONDAY, KYIV)
    assert talk.says(MONDAY) == "Appointment: Dentist · Friday 4 December, 14:00 to 14:30 · at Main street 5"
    assert talk.start.isoformat() == "2026-12-04T14:00:00+02:00"
    assert quick.appointment("Talk 9:00 90 min", MONDAY, KYIV).says(MONDAY).endswith("today, 09:00 to 10:30")
    assert quick.appointment("Talk 9:00", MONDAY, KYIV).says(MONDAY).endswith("09:00 to 10:00")
    assert quick.appointment("Party 23:00-1:00", MONDAY, KYIV).says(MONDAY).endswith("23:00 to 01:00 the day after")
    whole = quick.appointment("Holiday 24.12. all day", MONDAY, KYIV)
    assert (whole.is_all_day, whole.start, whole.end) == (True, date(2026, 12, 24), date(2026, 12, 25))
    assert whole.says(MONDAY) == "Appointment: Holiday · Thursday 24 December, all day"


def test_appointment_at_the_edges() -> None:
    """The hour that the clocks leave out, lengths of days and of nonsense, a day after the last one."""
    gap = quick.appointment("x 2027-03-28 03:30", MONDAY, KYIV)
    assert gap.says(MONDAY).endswith("Sunday 28 March 2027, 04:30 to 05:30")
    across = quick.appointment("x 2027-03-28 02:30-03:30", MONDAY, KYIV)
    assert (across.start.isoformat(), across.end.isoformat()) == (
        "2027-03-28T02:30:00+02:00",
        "2027-03-28T04:30:00+03:00",
    )
    assert quick.appointment("x 10:00 48 h", MONDAY, KYIV).says(MONDAY).endswith("10:00 on Wednesday 2 December")
    assert quick.appointment("x 10:00 for 9999999 hours", MONDAY, KYIV).title == "x for 9999999 hours"
    for text in ("x 10:00 for 400 hours", "x 9999-12-31", "x 9999-12-31 10:00"):
        with pytest.raises(InputError):
            quick.appointment(text, MONDAY, KYIV)


@pytest.mark.parametrize(
    ("text", "calories", "description"),
    [
        ("pasta 1,200 kcal", 1200, "pasta"),
        ("pasta 1.200 kcal", 1200, "pasta"),
        ("pasta 1,5 kcal", 1.5, "pasta"),
        ("soup -450 kcal", -450, "soup"),
        ("soup 1e9 kcal", None, "soup 1e9 kcal"),
    ],
)
def test_odd_calories(text: str, calories: float | None, description: str) -> None:
    """Thousands are thousands, a minus is kept for the check that refuses it, what is no number stays a word."""
    found = quick.meal(text, time(13))
    assert (found.calories, found.description) == (calories, description)


@pytest.mark.parametrize(
    ("text", "name"),
    [("50.4501,30.5234", None), ("50.4501; 30.5234", None), ("Gym 5 50.4501 30.5234", "Gym 5")],
)
def test_position_as_maps_copy_it(text: str, name: str | None) -> None:
    """Without a space after the comma; a number in the name is no latitude."""
    found = quick.place(text)
    assert (found.name, found.latitude, found.longitude) == (name, 50.4501, 30.5234)


def test_decimal_commas_are_no_position() -> None:
    """Four numbers are not guessed at."""
    with pytest.raises(InputError, match="latitude"):
        quick.place("Gym 50,45 30,52")


def test_meal() -> None:
    """Kind by word or by hour, figures where they are given; zero is a value."""
    found = quick.meal("lunch soup 450 kcal 20 g protein", time(20))
    assert (found.meal_type, found.description, found.calories, found.protein) == ("lunch", "soup", 450, 20)
    assert found.says() == "Lunch: soup · 450 kcal · 20 g protein"
    tea = quick.meal("tea, 0 kcal", time(8))
    assert (tea.meal_type, tea.description, tea.calories) == ("breakfast", "tea", 0)
    assert quick.meal("bread", time(12)).says() == "Lunch: bread · calories not known"


def test_place() -> None:
    """Two numbers are a position, with a name a place."""
    found = quick.place("Gym 50.4501, 30.5234 !sport")
    assert (found.name, found.latitude, found.longitude, found.category) == ("Gym", 50.4501, 30.5234, "sport")
    assert found.says() == "Place: Gym · 50.4501, 30.5234 · sport"
    assert quick.place("-33.9 151.2").says() == "Position now: -33.9, 151.2"


@pytest.mark.parametrize("text", ["", "  ", "tomorrow !high", "!low"])
def test_nothing_to_do(text: str) -> None:
    """A line without a title says what one looks like."""
    with pytest.raises(InputError, match="like: Call Anna"):
        quick.task(text, MONDAY)


@pytest.mark.parametrize("text", ["", "Gym", "Gym 50", "Version 1.2.3"])
def test_no_position(text: str) -> None:
    """A place needs two numbers."""
    with pytest.raises(InputError, match="latitude"):
        quick.place(text)


def test_no_meal() -> None:
    """A kind without words is not enough."""
    with pytest.raises(InputError, match="like: lunch"):
        quick.meal("lunch 300 kcal", time(12))
