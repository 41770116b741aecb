"""Cadences, states and phases of missions in words, as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.mission import Iteration, Mission
from pages._shared.literal import literal

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PHASES = {
    "resolving-inputs": "reading its inputs",
    "calling-llm": "asking the planner",
    "parsing-response": "reading the plan",
    "staging-proposals": "doing the steps",
    "finalizing": "ending",
}
COLOURS = {
    **{"active": "blue", "paused": "gray", "done": "green", "archived": "gray"},
    **{"running": "blue", "awaiting-review": "orange", "approved": "green", "rejected": "gray", "failed": "red"},
    **{"staged": "orange", "planned": "gray", "skipped": "gray"},
}
STATES = {"done": "completed", "awaiting-review": "waits for you", "approved": "done", "staged": "waits for you"}


def cadence(given: Cadence) -> str:
    if given.kind == "interval":
        return f"every {given.minutes:,} minutes"
    at = f"{given.hour or 0:02d}:{given.minute:02d}"
    if given.kind == "daily":
        return f"daily at {at}"
    if given.kind == "weekly":
        return f"{DAYS[given.weekday or 0]}s at {at}"
    return f"cron {literal(given.cron or '')}" if given.kind == "cron" else "by hand"


def state(name: str) -> str:
    return STATES.get(name, name)


def dates(moments: Iterable[datetime]) -> str:
    """Mon 7 Dec 2026 09:00, with the offset where two of them differ in it."""
    shown = list(moments)
    offsets = len({at.utcoffset() for at in shown}) > 1
    return ", ".join(f"{at:%a %-d %b %Y %H:%M}{f' (UTC{at:%z})' if offsets else ''}" for at in shown)


def took(run: Iteration, now: datetime) -> str:
    seconds = ((run.finished_at or now) - run.started_at).total_seconds()
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:,.0f} s"


def lost(mission: Mission, now: datetime) -> bool:
    """Whether a run has no process any more: the next one closes it."""
    return running(mission) and (mission.lease_until is None or mission.lease_until <= now)


def running(mission: Mission) -> bool:
    return mission.latest is not None and mission.latest.status == "running"
