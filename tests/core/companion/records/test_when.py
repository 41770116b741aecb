"""Days, times and lengths in a typed line."""

from __future__ import annotations

from datetime import date, time, timedelta

import pytest

from core.companion.records.when import find_day, find_length, find_times, say_day

MONDAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "day", "rest"),
    [
        ("Pay today", date(2026, 11, 30), "Pay"),
        ("Pay by tomorrow", date(2026, 12, 1), "Pay"),
        ("monday", date(2026, 12, 7), ""),
        ("Friday report on tuesday", date(2026, 12, 1), "Friday report"),
        ("Pay in 2 weeks please", date(2026, 12, 14), "Pay please"),
        ("Pay 2027-02-28", date(2027, 2, 28), "Pay"),
        ("Pay 24.12.", date(2026, 12, 24), "Pay"),
        ("Pay 1.2.", date(2027, 2, 1), "Pay"),
        ("Pay 1.2.2026", date(2026, 2, 1), "Pay"),
        ("Pay 2027-02-30", None, "Pay 2027-02-30"),
        ("Pay 3.14", None, "Pay 3.14"),
        ("Todayish", None, "Todayish"),
    ],
)
def test_days(text: str, day: date | None, rest: str) -> None:
    """The last day named counts, the rest stays; what is no day stays as it is."""
    assert find_day(text, MONDAY) == (day, rest)


@pytest.mark.parametrize(
    ("text", "start", "end", "rest"),
    [
        ("Talk 10:00-11:30", time(10), time(11, 30), "Talk"),
        ("Talk 9-10", time(9), time(10), "Talk"),
        ("Talk at 10", time(10), None, "Talk"),
        ("Talk 3pm", time(15), None, "Talk"),
        ("Talk 1-2pm", time(13), time(14), "Talk"),
        ("Lunch 12am", time(0), None, "Lunch"),
        ("Party 23:00 to 1:00", time(23), time(1), "Party"),
        ("Room 10", None, None, "Room 10"),
        ("Talk 25:00", None, None, "Talk 25:00"),
        ("Score 3-2", None, None, "Score 3-2"),
    ],
)
def test_times(text: str, start: time | None, end: time | None, rest: str) -> None:
    """With minutes, a half of the day, `at`, or a span of hours; a bare number is none."""
    assert find_times(text) == (start, end, rest)


def test_lengths() -> None:
    """Hours and minutes, with a comma as well."""
    assert find_length("Talk for 45 min") == (timedelta(minutes=45), "Talk")
    assert find_length("Talk 1,5 h") == (timedelta(hours=1.5), "Talk")
    assert find_length("Talk") == (None, "Talk")


def test_said() -> None:
    """Near days by their names, others in full, with the year where it is another."""
    days = [MONDAY, date(2026, 12, 1), date(2026, 12, 4), date(2027, 1, 1)]
    assert [say_day(day, MONDAY) for day in days] == [
        "today",
        "tomorrow",
        "Friday 4 December",
        "Friday 1 January 2027",
    ]
