"""Four weeks in counts: all that a model is told when it is asked what repeats. Never a text, a title, a name or an id.

Numbers from 100 on say only that they are many: a number that long could be somebody's id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.companion.contract import Module
from core.companion.reflect.days import instant
from core.companion.reflect.pattern import Pattern, read_pattern
from core.db.client import Database
from core.events.store import EventStore

WEEKS = 4
LEAST, MOST = 4, 25  # events of a kind in all weeks; kinds that are told
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
PARTS = (("night", 0), ("morning", 5), ("afternoon", 12), ("evening", 17), ("late", 22))


@dataclass(frozen=True)
class Weeks:
    """The figures by name, as `todo.TaskCompleted`, of the whole weeks before `until` (a Monday)."""

    until: date
    figures: Mapping[str, Mapping[str, Any]]


def read_weeks(db: Database, store: EventStore, modules: Sequence[Module], today: date, zone: ZoneInfo) -> Weeks:
    """Of the modules whose content is not sensitive. Errors: DatabaseError."""
    until = today - timedelta(days=today.weekday())
    since = until - timedelta(weeks=WEEKS)
    counts = store.count_by_type(instant(since, time(), zone), instant(until, time(), zone))
    named = {type: module.name for module in modules if module.content_class != "sensitive" for type in module.events}
    often = sorted((t for t, n in counts.items() if n >= LEAST and t in named), key=lambda t: (-counts[t], t))[:MOST]
    last = until - timedelta(days=1)
    return Weeks(
        until,
        {f"{named[t]}.{t}": _figure(read_pattern(db, t, {}, since, last, zone.key), since) for t in sorted(often)},
    )


def _figure(pattern: Pattern, since: date) -> dict[str, Any]:
    weeks: Counter[int] = Counter()
    parts: Counter[str] = Counter()
    for (day, hour), number in pattern.hours.items():
        weeks[(day - since).days // 7] += number
        parts[next(name for name, begins in reversed(PARTS) if hour >= begins)] += number
    weekdays = pattern.by_weekday()
    return {
        "per_week": [_few(weeks[n]) for n in range(WEEKS)],
        "by_weekday": {name: _few(weekdays[n]) for n, name in enumerate(DAYS) if weekdays[n]},
        "by_part_of_day": {name: _few(parts[name]) for name, _ in PARTS if parts[name]},
    }


def _few(number: int) -> int | str:
    return number if number < 100 else "99+"
