"""What an info step shows: lines of a label and a value, from the day snapshot, streaks and goals. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.standing import Streak

Line = tuple[str, str]
MOST = 12


@dataclass(frozen=True)
class Info:
    """`lines` hold people's titles too: text, not Markdown. `known` is False where the figures cannot be read now."""

    lines: tuple[Line, ...]
    known: bool = True


@dataclass(frozen=True)
class Now:
    """What the sources are read from; None for what could not be read."""

    now: datetime
    day: Mapping[str, Mapping[str, Any]]
    streaks: Sequence[Streak] | None
    goals: Sequence[Goal] | None


def read(source: str, now: Now) -> Info | None:
    """None for a source that this version does not know."""
    if source in _SECTIONS:
        module, build = _SECTIONS[source]
        if module not in now.day or (module in now.day.get("errors", {})):
            return Info((), known=False)
        return Info(tuple(build(now.day[module], now.now)))
    if source == "streaks":
        return Info((), known=False) if now.streaks is None else Info(tuple(_streaks(now.streaks)))
    if source == "goals":
        return Info((), known=False) if now.goals is None else Info(tuple(_goals(now.goals)))
    return None


def _tasks(section: Mapping[str, Any], _: datetime) -> list[Line]:
    due = section.get("due_today", ())
    lines = [("Open", f"{section['total']}, of them overdue: {section['overdue']}")]
    lines += [("Due today", str(task.get("title", ""))) for task in due[:MOST]]
    return [*lines, *([("And", f"{len(due) - MOST} more")] if len(due) > MOST else [])]


def _appointments(section: Mapping[str, Any], now: datetime) -> list[Line]:
    lines = [("All day", str(one.get("title", ""))) for one in section.get("all_day", ())[:MOST]]
    lines += [(_clock(one, now), str(one.get("title", ""))) for one in section.get("upcoming", ())[:MOST]]
    if lines:
        return lines
    total = section.get("total", 0)
    return [("Today", f"{total} noted, none of them still to come" if total else "No appointment is noted.")]


def _drinks(section: Mapping[str, Any], _: datetime) -> list[Line]:
    water, coffee = section["water"], section["coffee"]
    return [
        ("Water", f"{water['ml']:,.0f} of {water['goal']:,.0f} ml, {water['percent']:.0f} %"),
        ("Coffee", f"{coffee['count']} cups" if coffee["count"] != 1 else "1 cup"),
        ("All drinks", f"{section['total']['ml']:,.0f} ml"),
    ]


def _meals(section: Mapping[str, Any], _: datetime) -> list[Line]:
    calories = section["calories"]
    return [
        ("Meals", str(section["meals"])),
        ("Energy", f"{calories['actual']:,.0f} of {calories['goal']:,.0f} kcal, {calories['percent']:.0f} %"),
    ]


def _health(section: Mapping[str, Any], _: datetime) -> list[Line]:
    wrong = [f"{name}: {state}" for name, state in section["components"].items() if state != "ok"]
    lines = [("Now", str(section["status"]).replace("_", " ")), ("Not well", ", ".join(wrong) or "none")]
    if section.get("uptime_percent") is not None:
        lines.append(("Up in 24 hours", f"{section['uptime_percent']:.2f} %"))
    return [*lines, ("Incidents today", str(section["incidents"]))]


def _usage(section: Mapping[str, Any], _: datetime) -> list[Line]:
    limit, percent = section["budget"]["limit"], section["budget"]["percent"]
    of = f" of {limit:,}, {percent:.0f} %" if limit and percent is not None else ", no budget is set"
    least = "at least " if section["cost_is_lower_bound"] else ""
    return [
        ("Tokens", f"{section['total']:,}{of}"),
        ("Calls", f"{section['calls']:,} in {section['requests']:,} requests"),
        ("Cost", f"{least}{section['cost']:,.2f} USD"),
        ("Unknown model", f"{section['unknown_percent']:.1f} %"),
    ]


def _expired(section: Mapping[str, Any], _: datetime) -> list[Line]:
    oldest = section["oldest_expired_age_h"]
    return [
        ("Expired", f"{section['expired']:,}, for more than a day: {section['expired_24h']:,}"),
        ("Expire within a day", f"{section['expiring_24h']:,}"),
        ("Oldest", "none" if oldest is None else f"expired {oldest:,.0f} hours ago"),
    ]


def _sync(section: Mapping[str, Any], _: datetime) -> list[Line]:
    return [
        (
            "Synced today",
            f"{section['synced']:,} of {section['expected']:,} expected, {section['synced_percent']:.0f} %",
        ),
        ("Missing", f"{section['missing']:,} today, {section['missing_yesterday']:,} yesterday"),
        ("Changed today", f"{section['changed']:,}"),
    ]


def _dialogs(section: Mapping[str, Any], _: datetime) -> list[Line]:
    return [
        ("Dialogs", f"{section['dialogs']:,} with {section['total_chunks']:,} chunks"),
        ("Never ingested", f"{len(section['never_ingested']):,}"),
        ("Keys of both orders", f"{section['ambiguous_dialogs']:,}"),
        ("Of another model", f"{section['stale_model_chunks']:,} chunks"),
    ]


def _streaks(streaks: Sequence[Streak]) -> list[Line]:
    running = [one for one in streaks if one.current]
    words = {"at_risk": ", at risk"}
    lines = [
        (one.label, f"{one.current} {'day' if one.current == 1 else 'days'}{words.get(one.status, '')}")
        for one in running
    ]
    return lines or [("Streaks", "None is running.")]


def _goals(goals: Sequence[Goal]) -> list[Line]:
    lines = []
    for goal in goals:
        if goal.status == "active":
            value = "not known yet" if goal.value is None else f"{goal.value:,.6g}"
            of = {"gte": "of", "lte": "of at most", "eq": "to be"}[goal.target.comparison]
            lines.append((goal.title, f"{value} {of} {goal.target.value:,.6g} a {goal.target.period}"))
    return lines[:MOST] or [("Goals", "None is active.")]


def _clock(one: Mapping[str, Any], now: datetime) -> str:
    raw = one.get("start_at")
    return f"{datetime.fromisoformat(str(raw)).astimezone(now.tzinfo):%H:%M}" if raw else "Some time"


_SECTIONS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], datetime], list[Line]]]] = {
    "tasks_today": ("todo", _tasks),
    "events_today": ("calendar", _appointments),
    "drink_progress": ("drink", _drinks),
    "nutrition_progress": ("food", _meals),
    "health_status": ("health", _health),
    "usage_today": ("usage", _usage),
    "expired_snapshots": ("snapshots", _expired),
    "sync_status": ("snapshots", _sync),
    "dialog_status": ("memory", _dialogs),
}
