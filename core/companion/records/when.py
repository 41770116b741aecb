"""Days, times and lengths in a line that a person typed. Pure; every find gives what is left of the line."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time, timedelta

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# 1,200 and 1.200: nobody means three decimals of a kcal or a ml.
THOUSANDS = r"(?<![\w.,])(-?[1-9]\d{0,2}(?:[.,\u00a0\u202f]\d{3})+)(?!\d)"
_BEFORE = r"(?:\b(?:on|by|due|until|next)\s+)?"
_DAY = re.compile(
    _BEFORE + r"(?:\b(?P<iso>\d{4}-\d{2}-\d{2})\b|(?<![\d.])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})?(?!\d)"
    r"|\bin\s+(?P<n>\d{1,3})\s+(?P<unit>days?|weeks?)\b"
    r"|\b(?P<word>today|tonight|tomorrow|" + "|".join(WEEKDAYS) + r")\b)",
    re.IGNORECASE,
)
_CLOCK = r"(?P<{0}h>\d{{1,2}})(?::(?P<{0}m>\d{{2}}))?\s?(?P<{0}half>am|pm)?"
_SPAN = re.compile(
    r"(?:\b(?:at|from)\s+)?(?<![\d:.])" + _CLOCK.format("a") + r"\s?(?:-|–|to)\s?" + _CLOCK.format("b") + r"(?![\d:.])",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?P<at>\bat\s+)?(?<![\d:.])" + _CLOCK.format("a") + r"(?![\d:.])", re.IGNORECASE)
_LENGTH = re.compile(
    r"(?:\bfor\s+)?(?<![\d.])(?P<n>\d{1,6}(?:[.,]\d+)?)\s?(?P<unit>hours?|hrs?|h|minutes?|mins?|min)\b", re.IGNORECASE
)


def without(text: str, found: re.Match[str]) -> str:
    """The line with a find taken out."""
    return " ".join((text[: found.start()] + " " + text[found.end() :]).split())


def find_day(text: str, today: date) -> tuple[date | None, str]:
    """The last day that the line names. A weekday is the next one after today; a day without a year lies ahead."""
    for found in reversed(list(_DAY.finditer(text))):
        day = _day_of(found, today)
        if day is not None:
            return day, without(text, found)
    return None, text


def find_times(text: str) -> tuple[time | None, time | None, str]:
    """Start and end: 10:00-11:30, 9-10, at 10, 3pm, 10:00; a bare number is no time."""
    for found in _SPAN.finditer(text):
        end = _clock(found, "b")
        start = _clock(found, "a", half=found["bhalf"])
        said = found["am"] or found["bm"] or found["ahalf"] or found["bhalf"]
        if start is not None and end is not None and (said or int(found["bh"]) > int(found["ah"])):
            return start, end, without(text, found)
    for found in _TIME.finditer(text):
        start = _clock(found, "a")
        if start is not None and (found["am"] or found["ahalf"] or found["at"]):
            return start, None, without(text, found)
    return None, None, text


def find_length(text: str) -> tuple[timedelta | None, str]:
    """45 min, 1.5 h, for 2 hours."""
    found = _LENGTH.search(text)
    if found is None:
        return None, text
    number = float(found["n"].replace(",", "."))
    return timedelta(hours=number) if found["unit"][0] in "hH" else timedelta(minutes=number), without(text, found)


def say_day(day: date, today: date) -> str:
    """today, tomorrow, Friday 4 December, with the year where it is another."""
    if day == today:
        return "today"
    if day == today + timedelta(1):
        return "tomorrow"
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day:%A} {day.day} {day:%B}{year}"


def _day_of(found: re.Match[str], today: date) -> date | None:
    if found["iso"]:
        return _try(lambda: date.fromisoformat(found["iso"]))
    if found["d"]:
        month, day = int(found["m"]), int(found["d"])
        if found["y"]:
            return _try(lambda: date(int(found["y"]), month, day))
        this = _try(lambda: date(today.year, month, day))
        return this if this is None or this >= today else _try(lambda: date(today.year + 1, month, day))
    if found["n"]:
        return today + timedelta(int(found["n"]) * (7 if found["unit"][0] in "wW" else 1))
    word = found["word"].lower()
    if word in WEEKDAYS:
        return today + timedelta((WEEKDAYS.index(word) - today.weekday() - 1) % 7 + 1)
    return today + timedelta(1) if word == "tomorrow" else today


def _try(make: Callable[[], date]) -> date | None:
    try:
        return make()
    except ValueError:
        return None


def _clock(found: re.Match[str], of: str, half: str | None = None) -> time | None:
    hour, minute = int(found[f"{of}h"]), int(found[f"{of}m"] or 0)
    half = (found[f"{of}half"] or half or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None
