"""What a run may not exceed, whatever its plan says. Source: spec/companion.md, MI-7, MI-9."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.companion.act.missions.inputs import Resolved
from core.companion.act.missions.mission import Mission, Step
from core.companion.contract import ModuleTool

TEXT_MOST = 100_000  # characters of all inputs
ROUNDS_MOST, STEPS_MOST = 5, 25
RUN_S = 180.0
WARN_AT = 0.75  # of the tokens of a day
BACK_OFF_FROM, PAUSE_AT = 3, 6  # failures in a row


class Blocked(Exception):
    """Why a run stops before its plan is asked for, in words for a person."""


def check_inputs(inputs: Sequence[Resolved]) -> None:
    """Errors: Blocked."""
    size = sum(len(one.title) + len(one.content) for one in inputs)
    if size > TEXT_MOST:
        raise Blocked(f"Its inputs hold {size:,} characters; {TEXT_MOST:,} is the most. Choose fewer of them.")


def check_budget(spent: int, budget: int) -> str | None:
    """A word for the prompt from 75 % on. Errors: Blocked at 100 %."""
    if spent >= budget:
        raise Blocked(f"The {budget:,} tokens of this mission are used up for today.")
    if spent >= budget * WARN_AT:
        return f"Most of the tokens of the day are used up ({spent:,} of {budget:,}). Be brief, and end soon."
    return None


def blank(tool: ModuleTool, params: Mapping[str, Any]) -> str | None:
    """Why a step is not run: a required text of it is empty."""
    for one in tool.parameters:
        value = params.get(one.name)
        if one.required and isinstance(value, str) and not value.strip():
            return f"{one.name} is empty."
    return None


def struggling(round: int, steps: Sequence[Step]) -> bool:
    """From the third round on, after two failures in a row."""
    return round >= 3 and len(steps) >= 2 and all(step.status == "failed" for step in steps[-2:])


def after_run(mission: Mission, *, failed: bool, now: datetime, zone: ZoneInfo) -> dict[str, Any]:
    """When it runs next: from the third failure on each second, fourth, eighth time; then no more, until somebody
    resumes it."""
    if not failed:
        return _after(mission.cadence.next_after(now, zone), 0)
    failures = mission.fail_count + 1
    if failures < BACK_OFF_FROM or mission.cadence.kind == "manual":
        return _after(mission.cadence.next_after(now, zone), failures)
    if failures >= PAUSE_AT:
        return {**_after(None, failures), "paused": True}
    coming = mission.cadence.upcoming(now, zone, 2 ** (failures - BACK_OFF_FROM + 1))
    return _after(coming[-1] if coming else None, failures)


def _after(next_run: datetime | None, failures: int) -> dict[str, Any]:
    return {"next_run_at": next_run.isoformat() if next_run else None, "fail_count": failures, "paused": False}
