"""One line that a person typed -> what is meant. Pure, and open about it: `says` tells what was understood.

What is no day, number or sign of a kind is the title. Errors: InputError that says what a line looks like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.companion.records import checks, meals
from core.companion.records.places import CATEGORIES
from core.companion.records.tasks import PRIORITIES
from core.companion.records.when import THOUSANDS, find_day, find_length, find_times, say_day, without
from core.errors import InputError

_MARK = re.compile(r"(?<!\S)!(\w+)(?!\S)")
_NUMBER = r"(?<![\w.,])(-?\d+(?:[.,]\d+)?)"
_KCAL = re.compile(rf"(?:{THOUSANDS}|{_NUMBER})" + r"\s?(?:kcal|calories|cal)\b", re.IGNORECASE)
_PROTEIN = re.compile(rf"{_NUMBER}\s?g(?:rams?)?\s+(?:of\s+)?protein\b|\bprotein\s+{_NUMBER}\s?g\b", re.IGNORECASE)
# As maps copy them; without decimals only where nothing else can be meant.
_DEGREES = (
    re.compile(r"(?<![\w.,])(-?\d{1,2}\.\d+)(?:\s*[,;]\s*|\s+)(-?\d{1,3}\.\d+)(?!\.?\w|,\d)"),
    re.compile(r"(?<![\w.,])(-?\d{1,2}(?:\.\d+)?)[,;]?\s+(-?\d{1,3}(?:\.\d+)?)(?!\.?\w|,\d)"),
)
HOUR = timedelta(hours=1)
LONGEST = timedelta(14)


@dataclass(frozen=True)
class QuickTask:
    title: str
    due_date: date | None
    priority: str

    def says(self, today: date) -> str:
        due = f"due {say_day(self.due_date, today)}" if self.due_date else "without a day"
        return f"Task: {self.title} · {due} · {self.priority} priority"


@dataclass(frozen=True)
class QuickAppointment:
    """`start` and `end` are instants, or dates where it lasts all day; then `end` is the day after it."""

    title: str
    start: datetime | date
    end: datetime | date
    is_all_day: bool
    location: str | None

    def says(self, today: date) -> str:
        where = f" · at {self.location}" if self.location else ""
        if not isinstance(self.start, datetime) or not isinstance(self.end, datetime):
            return f"Appointment: {self.title} · {say_day(self.start, today)}, all day{where}"
        days = (self.end.date() - self.start.date()).days
        after = "" if days == 0 else " the day after" if days == 1 else f" on {say_day(self.end.date(), today)}"
        until = f"{self.end:%H:%M}{after}"
        return f"Appointment: {self.title} · {say_day(self.start.date(), today)}, {self.start:%H:%M} to {until}{where}"


@dataclass(frozen=True)
class QuickMeal:
    description: str
    meal_type: str
    calories: float | None
    protein: float | None

    def says(self) -> str:
        kcal = "calories not known" if self.calories is None else f"{self.calories:,g} kcal"
        protein = "" if self.protein is None else f" · {self.protein:g} g protein"
        return f"{self.meal_type.capitalize()}: {self.description} · {kcal}{protein}"


@dataclass(frozen=True)
class QuickPlace:
    """A place with a name, or where somebody is now: `name` None."""

    name: str | None
    latitude: float
    longitude: float
    category: str

    def says(self) -> str:
        at = f"{self.latitude:g}, {self.longitude:g}"
        return f"Place: {self.name} · {at} · {self.category}" if self.name else f"Position now: {at}"


def task(text: str, today: date) -> QuickTask:
    """`Call Anna tomorrow !high`. Without a mark the priority is medium."""
    priority, rest = _mark(text, {p: p for p in PRIORITIES})
    due, rest = find_day(rest, today)
    return QuickTask(_left(rest, "Call Anna tomorrow !high"), due, priority or "medium")


def appointment(text: str, today: date, zone: ZoneInfo) -> QuickAppointment:
    """`Dentist friday 14:00-14:30 @ Main street 5`. Without a time it lasts all day; without an end, an hour."""
    rest, _, place = text.partition(" @")
    rest, whole = re.subn(r"\ball[ -]day\b", " ", rest, flags=re.IGNORECASE)
    start = end = None
    if not whole:
        start, end, rest = find_times(rest)
    length, rest = find_length(rest) if start is not None and end is None else (None, rest)
    day, rest = find_day(rest, today)
    title, day = _left(rest, "Dentist friday 14:00-14:30"), checks.day(day or today, "day")
    if start is None:
        return QuickAppointment(title, day, day + timedelta(1), True, place.strip() or None)
    if length is not None and length > LONGEST:
        raise InputError("An appointment lasts at most 14 days.", field="text")
    clock = datetime.combine(day, start)
    if end is not None:
        until = datetime.combine(day + timedelta(1 if end <= start else 0), end)
    else:
        until = clock + (length or HOUR)
    begins, ends = _real(clock, zone), _real(until, zone)
    if ends.astimezone(UTC) <= begins.astimezone(UTC):  # the hour that the clocks leave out
        ends = (begins.astimezone(UTC) + (until - clock)).astimezone(zone)
    return QuickAppointment(title, begins, ends, False, place.strip() or None)


def meal(text: str, now: time) -> QuickMeal:
    """`lunch soup 450 kcal 20 g protein`. Without a kind the hour says which meal it is."""
    found = _PROTEIN.search(text)
    protein = _float(found[1] or found[2]) if found else None
    rest = without(text, found) if found else text
    found = _KCAL.search(rest)
    calories = _float(found[2] or re.sub(r"[^\d-]", "", found[1])) if found else None
    rest = without(rest, found) if found else rest
    first, _, others = rest.strip().partition(" ")
    kind = first.lower().rstrip(":,")
    if kind in meals.TYPES:
        return QuickMeal(_left(others, "lunch soup 450 kcal"), kind, calories, protein)
    return QuickMeal(_left(rest, "lunch soup 450 kcal"), meals.meal_type_at(now.hour), calories, protein)


def place(text: str) -> QuickPlace:
    """`Gym 50.4501 30.5234 !sport`; two numbers alone are where somebody is now."""
    category, rest = _mark(text, {c: c for c in CATEGORIES})
    found = _DEGREES[0].search(rest) or _DEGREES[1].search(rest)
    if found is None:
        raise InputError("A place needs its latitude and longitude, like: Gym 50.4501 30.5234 !sport", field="text")
    name = without(rest, found).strip(" ,;") or None
    return QuickPlace(name, float(found[1]), float(found[2]), category or "other")


def _real(clock: datetime, zone: ZoneInfo) -> datetime:
    """A time as that day's clocks show it: one that they leave out is an hour later."""
    return clock.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)


def _mark(text: str, known: dict[str, str]) -> tuple[str | None, str]:
    """The last `!word` that means something; other exclamations stay where they are."""
    for found in reversed(list(_MARK.finditer(text))):
        if (word := found[1].lower()) in known:
            return known[word], without(text, found)
    return None, text


def _left(rest: str, example: str) -> str:
    title = " ".join(rest.split()).strip(" ,;")
    if not title:
        raise InputError(f"Say what it is, like: {example}", field="text")
    return title


def _float(text: str) -> float:
    return float(text.replace(",", "."))
