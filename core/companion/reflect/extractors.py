"""What repeats in events of one type: pure functions of when they happened. Source: spec/companion.md, ME-4."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from core.companion.contract import Extractor
from core.companion.reflect.facts import Learned
from core.companion.reflect.pattern import Pattern

LOOK_BACK_DAYS = 30
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WINDOW_H = 4

Found = tuple[str, Mapping[str, object]]


def fact_key(row: Extractor) -> str:
    """Kind, event and filter: coffee and water of one event type are two facts."""
    filters = "+".join(f"{name}.{value}" for name, value in sorted(row.where.items()))
    parts = [row.kind, row.event, *([filters] if filters else []), *([row.then] if row.then else [])]
    return ":".join(parts)


def extract(row: Extractor, module: str, pattern: Pattern, today: date, then: Pattern | None = None) -> Learned | None:
    """What that row finds, None for nothing. `then` is the pattern of the event that a sequence leads to."""
    found = (
        _sequence(row.label, pattern, then or Pattern())
        if row.kind == "sequence"
        else _ALONE[row.kind](row.label, pattern, today)
    )
    if found is None:
        return None
    category = "relationship" if row.kind == "sequence" else "pattern"
    return Learned(fact_key(row), category, found[0], found[1], (module,), pattern.events)  # type: ignore[arg-type]


def _weekdays(label: str, pattern: Pattern, _: date) -> Found | None:
    if pattern.total < 7:
        return None
    even = pattern.total / 7
    active = [day for day, number in sorted(pattern.by_weekday().items()) if number > 1.3 * even]
    if not active or len(active) == 7:
        return None
    *first, last = (DAYS[day] for day in active)
    names = f"{', '.join(first)} and {last}" if first else last
    return f"{_begun(label)} mostly on {names}.", {"weekdays": active}


def _time(label: str, pattern: Pattern, _: date) -> Found | None:
    if pattern.total < 10:
        return None
    hours = pattern.by_hour()
    inside = {start: sum(hours[start + n] for n in range(WINDOW_H)) for start in range(5, 21)}
    start = max(inside, key=lambda hour: (inside[hour], -hour))
    share = inside[start] / pattern.total
    if share < 0.4:
        return None
    part = "morning" if start < 12 else "afternoon" if start < 17 else "evening"
    words = f"{_begun(label)} mostly in the {part}, {start:02}:00 to {start + WINDOW_H:02}:00 ({share:.0%})."
    return words, {"from_hour": start, "share": round(share, 3)}


def _frequency(label: str, pattern: Pattern, _: date) -> Found | None:
    days = pattern.by_day()
    if pattern.total < 5 or len(days) < 3:
        return None
    average = round(pattern.total / len(days), 1)
    times = "once" if average == 1 else f"{average:g} times"
    return f"{_begun(label)} {times} a day, on days when at all.", {"per_day": average}


def _recurrence(label: str, pattern: Pattern, today: date) -> Found | None:
    """Three times on one weekday within two weeks, on more than one of its dates."""
    since = today - timedelta(days=14)
    times: Counter[int] = Counter()
    dates: Counter[int] = Counter()
    for day, number in pattern.by_day().items():
        if day > since:
            times[day.weekday()] += number
            dates[day.weekday()] += 1
    found = sorted(day for day in times if times[day] >= 3 and dates[day] >= 2)
    if not found or len(found) == 7:
        return None
    return f"{_begun(label)} again and again on {' and '.join(DAYS[day] for day in found)}.", {"weekdays": found}


def _sequence(label: str, pattern: Pattern, then: Pattern) -> Found | None:
    days = [day for day in then.first if day in pattern.first or day in pattern.by_day()]
    if len(days) < 5:
        return None
    before = sum(1 for day in days if day in pattern.first and pattern.first[day] < then.first[day])
    share = before / len(days)
    if share < 0.7:
        return None
    return f"{_begun(label)} ({share:.0%} of {len(days)} days).", {"share": round(share, 3), "days": len(days)}


def _begun(label: str) -> str:
    return label[:1].upper() + label[1:]


_ALONE: Mapping[str, Callable[[str, Pattern, date], Found | None]] = {
    "dow": _weekdays,
    "time": _time,
    "frequency": _frequency,
    "recurrence": _recurrence,
}
