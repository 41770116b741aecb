"""Patterns in when events happened, and none where there is none. Source: spec/companion.md, ME-4."""

from __future__ import annotations

from datetime import date, time, timedelta

import pytest

from core.companion.contract import Extractor
from core.companion.reflect.extractors import extract, fact_key
from core.companion.reflect.pattern import Pattern

MONDAY = date(2026, 11, 2)
TODAY = MONDAY + timedelta(days=27)


def row(kind: str, **more: object) -> Extractor:
    return Extractor(kind, "DrinkLogged", "coffee is drunk", **more)  # type: ignore[arg-type]


def on(*days: int, hour: int = 9, each: int = 1) -> Pattern:
    """Events on these days after the first Monday."""
    return Pattern({(MONDAY + timedelta(days=n), hour): each for n in days})


def words(kind: str, pattern: Pattern, today: date = TODAY) -> str | None:
    found = extract(row(kind), "drink", pattern, today)
    return found.content if found else None


def test_weekdays() -> None:
    """Seven events, more than 1.3 times the even share; none or all seven weekdays give nothing (case 38)."""
    assert words("dow", on(0, 7, 14, 21, 1, 8, 15)) == "Coffee is drunk mostly on Monday and Tuesday."
    assert words("dow", on(0, 7, 14, 1, 8, 15, 2, 9, 16)) == "Coffee is drunk mostly on Monday, Tuesday and Wednesday."
    assert words("dow", on(0, 7, 14, 21, 1, 8)) is None
    assert words("dow", on(*range(28))) is None


def test_the_best_four_hours() -> None:
    """40 % of at least ten events is a pattern, 39 % is none (case 39); morning, afternoon, evening."""

    def hours(inside: int, outside: int, start: int) -> Pattern:
        apart = {(MONDAY + timedelta(days=n), (start + 8 + 4 * (n % 3)) % 24): 0 for n in range(3)}
        spread = (0, 1, 2, 3, 4)
        found = {(MONDAY, start): inside, **apart}
        for n in range(outside):
            key = (MONDAY + timedelta(days=n % 20), spread[n % 5])
            found[key] = found.get(key, 0) + 1
        return Pattern(found)

    assert words("time", hours(40, 60, 8)) == "Coffee is drunk mostly in the morning, 05:00 to 09:00 (40%)."
    assert words("time", hours(39, 61, 8)) is None
    assert "afternoon" in (words("time", Pattern({(MONDAY, 15): 5, (MONDAY, 18): 5})) or "")
    assert "evening" in (words("time", Pattern({(MONDAY, 20): 5, (MONDAY, 22): 5})) or "")
    assert words("time", Pattern({(MONDAY, 8): 9})) is None


def test_how_often() -> None:
    """An average of days with any, from five events on three days."""
    assert words("frequency", on(0, 1, 2, each=2)) == "Coffee is drunk 2 times a day, on days when at all."
    assert words("frequency", on(0, 1, each=9)) is None
    assert words("frequency", on(0, 1, 2, 3)) is None


def test_again_on_one_weekday() -> None:
    """Three times within two weeks on more than one of its dates."""
    twice = Pattern({(TODAY - timedelta(days=7), 9): 2, (TODAY, 9): 1})
    assert words("recurrence", twice) == "Coffee is drunk again and again on Sunday."
    assert words("recurrence", Pattern({(TODAY, 9): 3})) is None
    assert words("recurrence", Pattern({(TODAY - timedelta(days=14), 9): 2, (TODAY, 9): 1})) is None


@pytest.mark.parametrize(("before", "days", "found"), [(5, 5, True), (4, 5, True), (3, 5, False), (4, 4, False)])
def test_one_before_the_other(before: int, days: int, found: bool) -> None:
    """On 70 % of at least five days with the second, the first one came before it."""
    first = {MONDAY + timedelta(days=n): time(8 if n < before else 12) for n in range(days)}
    then = {MONDAY + timedelta(days=n): time(10) for n in range(days)}
    pattern = Pattern({(day, at.hour): 1 for day, at in first.items()}, first)
    got = extract(row("sequence", then="CalendarEventCreated"), "drink", pattern, TODAY, Pattern({}, then))
    assert (got is not None) is found
    assert got is None or got.category == "relationship"


def test_keys_hold_the_filter() -> None:
    """Coffee and water are two facts (case 40)."""
    coffee = fact_key(row("dow", where={"drink_type": "coffee"}))
    assert coffee == "dow:DrinkLogged:drink_type.coffee"
    assert coffee != fact_key(row("dow", where={"drink_type": "water"}))
    assert fact_key(row("sequence", then="X")) != fact_key(row("sequence", then="Y"))
