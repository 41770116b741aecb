"""Which dialog was synced on which day. A day without rows is missing or unknown, never zero. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

Status = Literal["complete", "partial", "missing", "due", "unknown"]

# In words, as the pages say them.
MEANING: Mapping[Status, str] = {
    "complete": "A sync of this day was completed.",
    "partial": "Entities came, and no mark that the sync was completed.",
    "missing": "A sync was due (one was completed in the three days before) and none came.",
    "due": "A sync is due today and has not come yet.",
    "unknown": "Nothing is known of this day, and nothing was due.",
}


@dataclass(frozen=True)
class DayCoverage:
    """One dialog on one day; `entities` is None where nothing is known, `stored` counts rows that are still kept."""

    day: str
    status: Status
    entities: int | None = None
    stored: int | None = None


@dataclass(frozen=True)
class DialogCoverage:
    dialog_key: str
    ru_id: str | None
    tu_id: str | None
    missing: int
    days: tuple[DayCoverage, ...]


@dataclass(frozen=True)
class Calendar:
    """One page of dialogs (`total` in all), each with every day of the window, oldest first."""

    days: tuple[str, ...]
    rows: tuple[DialogCoverage, ...]
    total: int


@dataclass(frozen=True)
class DayTotal:
    """All dialogs on one day; every count None where nothing is known of the day."""

    day: str
    entities: int | None = None
    stored: int | None = None
    dialogs: int | None = None
    complete: int | None = None
    partial: int | None = None
    expected: int | None = None
    missing: int | None = None


def window(first: date, last: date) -> tuple[str, ...]:
    """Every day from first to last as ISO text; () where last lies before first."""
    return tuple((first + timedelta(n)).isoformat() for n in range((last - first).days + 1))


def calendar_of(answer: Mapping[str, Any], first: date, last: date, today: date) -> Calendar:
    """From the answer of desk_snapshot_calendar."""
    days = window(first, last)
    rows = tuple(
        DialogCoverage(
            row["dialog_key"],
            row.get("ru_id"),
            row.get("tu_id"),
            sum(d.status == "missing" for d in line),
            line,
        )
        for row in answer["rows"]
        if (line := tuple(_day(day, (row.get("days") or {}).get(day), today) for day in days)) is not None
    )
    return Calendar(days, rows, int(answer["total"]))


def totals_of(answer: list[Mapping[str, Any]], first: date, last: date) -> tuple[DayTotal, ...]:
    """From the answer of desk_snapshot_days, every day of the window in its place."""
    found = {row["sync_date"]: row for row in answer}
    names = ("entities", "stored", "dialogs", "complete", "partial", "expected", "missing")
    return tuple(
        DayTotal(day, **{n: int(found[day][n]) for n in names}) if day in found else DayTotal(day)
        for day in window(first, last)
    )


def _day(day: str, facts: Mapping[str, Any] | None, today: date) -> DayCoverage:
    if facts is None:
        return DayCoverage(day, "unknown")
    entities, stored = int(facts["entities"]), int(facts["stored"])
    if facts["complete"]:
        return DayCoverage(day, "complete", entities, stored)
    if facts["expected"]:
        if day == today.isoformat():
            return DayCoverage(day, "due", entities or None, stored)
        if day > today.isoformat():
            return DayCoverage(day, "unknown")
        if not entities:
            return DayCoverage(day, "missing")
    return DayCoverage(day, "partial", entities, stored) if entities else DayCoverage(day, "unknown")
