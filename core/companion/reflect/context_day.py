"""The lines of the context document about today, one module after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

TITLE_LIMIT = 80
FURTHER = 3  # appointments after the next one


@dataclass(frozen=True)
class Titles:
    """How many titles of tasks are named."""

    most: int


def day_lines(day: Mapping[str, Mapping[str, Any]], now: datetime, hidden: frozenset[str], titles: Titles) -> list[str]:
    """Every module that has something to say and is not hidden; one whose section failed says nothing."""
    failed = frozenset(day.get("errors", {}))
    lines: list[str] = []
    for name in (*_PILOT, *_DESK):
        if name not in day or name in hidden or name in failed:
            continue
        section = day[name]
        if name == "todo":
            lines += _tasks(section, titles)
        elif name in _PILOT:
            lines += _PILOT_LINES[name](section, now)
        else:
            lines += _desk(name, section)
    return lines


def _tasks(section: Mapping[str, Any], titles: Titles) -> list[str]:
    due = section.get("due_today", ())
    parts = [
        f"{section.get('total', 0)} open",
        *_if(section.get("completed"), "{} done today"),
        *_if(section.get("overdue"), "{} overdue"),
        *_if(len(due), "{} due today"),
    ]
    lines = [f"Tasks: {', '.join(parts)}"]
    for task in list(due)[: titles.most]:
        mark = " (high priority)" if task.get("priority") == "high" else ""
        lines.append(f"due today: {_title(task.get('title'))}{mark}")
    return lines


def _appointments(section: Mapping[str, Any], now: datetime) -> list[str]:
    total, following = section.get("total", 0), section.get("next_event")
    if not total and not following:
        return ["Appointments: none"]
    words = f"Appointments: {total} today"
    if following:
        words += f", next {_title(following.get('title'))} at {_clock(following, now)}"
    lines = [words]
    later: Sequence[Mapping[str, Any]] = [e for e in section.get("upcoming", ()) if e != following][:FURTHER]
    lines += [f"later: {_title(e.get('title'))} at {_clock(e, now)}" for e in later]
    return lines


def _drinks(section: Mapping[str, Any], _: datetime) -> list[str]:
    water, coffee = section.get("water", {}), section.get("coffee", {})
    line = f"Water: {water.get('ml', 0):g} of {water.get('goal', 0):g} ml ({water.get('percent', 0):g} %)"
    return [line + (f"; coffee: {coffee['count']}" if coffee.get("count") else "")]


def _meals(section: Mapping[str, Any], _: datetime) -> list[str]:
    calories = section.get("calories", {})
    words = f"Meals: {section.get('meals', 0)}, {calories.get('actual', 0):g} of {calories.get('goal', 0):g} kcal"
    words += f" ({calories.get('percent', 0):g} %)"
    if protein := section.get("protein"):
        words += f", protein {protein.get('actual', 0):g} of {protein.get('goal', 0):g} g"
    return [words]


def _places(section: Mapping[str, Any], _: datetime) -> list[str]:
    visited = section.get("visited_today", 0)
    number = visited if isinstance(visited, (int, float)) else len(visited)
    parts = [*_if(number, "{} visited today"), *(["tracking is on"] if section.get("tracking") else [])]
    return [f"Places: {', '.join(parts)}"] if parts else []


# What is said of the dashboard's own modules, where the figure is there.
_DESK_FIELDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "memory": (("total_chunks", "{:,} chunks"), ("dialogs", "{:,} dialogs"), ("searches", "{:,} searches"),
               ("ambiguous_dialogs", "{:,} ambiguous keys")),
    "snapshots": (("synced_dialogs", "{:,} synced"), ("expired_rows", "{:,} expired rows")),
    "usage": (("calls", "{:,} calls"), ("total", "{:,} tokens"), ("unknown_share", "{:.1%} unknown")),
    "health": (("status", "{}"), ("incidents", "{} incidents")),
}  # fmt: skip
_PILOT = ("todo", "calendar", "drink", "food", "places")
_DESK = tuple(_DESK_FIELDS)
_PILOT_LINES = {"calendar": _appointments, "drink": _drinks, "food": _meals, "places": _places}


def _desk(name: str, section: Mapping[str, Any]) -> list[str]:
    parts = []
    for field, form in _DESK_FIELDS[name]:
        value = section.get(field)
        if isinstance(value, (list, tuple)):
            value = len(value)
        if isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool) and value):
            parts.append(form.format(value))
    return [f"{name.capitalize()}: {', '.join(parts)}"] if parts else []


def _if(number: Any, words: str) -> list[str]:
    return [words.format(number)] if number else []


def _title(value: Any) -> str:
    text = " ".join(str(value or "untitled").split())
    return text if len(text) <= TITLE_LIMIT else text[: TITLE_LIMIT - 1] + "…"


def _clock(event: Mapping[str, Any], now: datetime) -> str:
    if event.get("is_all_day"):
        return "all day"
    raw = event.get("start_at") or event.get("start")
    if raw is None:
        return "some time"
    at = raw if isinstance(raw, datetime) else datetime.fromisoformat(str(raw))
    local = at.astimezone(now.tzinfo) if at.tzinfo else at
    return f"{local:%H:%M}" if local.date() == now.date() else f"{local:%Y-%m-%d %H:%M}"
