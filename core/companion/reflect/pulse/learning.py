"""What the answers to nudges change: plain counting. Source: spec/companion.md, FB-2 and FB-3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.companion.contract import At, Priority, Rule
from core.companion.reflect.pulse.slots import time_name

ENOUGH, RARELY, OFTEN = 5, 0.2, 0.8
MOST_HOURS, FIRST_HOUR, LAST_HOUR = 3, 8, 21
ENOUGH_FOR_ALL, HARDLY_EVER = 10, 0.1
LOWER: Mapping[Priority, Priority] = {"high": "medium", "medium": "low", "low": "low"}

# (acted, total) by local hour.
Hours = Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Lesson:
    """What follows for a rule: hours by which its slots move, those that are kept as often acted on, and whether it
    is hardly ever acted on."""

    hour_shift: Mapping[str, int] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    demoted: bool = False


def action_rate(acted: int, total: int) -> float | None:
    """None below five outcomes."""
    return acted / total if total >= ENOUGH else None


def lesson(rule: Rule, hours: Hours) -> Lesson:
    """From the outcomes of a rule. A rule that is not learnable learns nothing."""
    if not rule.learnable:
        return Lesson()
    acted, total = (sum(numbers[n] for numbers in hours.values()) for n in (0, 1))
    demoted = total >= ENOUGH_FOR_ALL and acted / total < HARDLY_EVER
    shifts: dict[str, int] = {}
    kept: list[str] = []
    for hour, minute in rule.trigger.times if isinstance(rule.trigger, At) else ():
        name = time_name(hour, minute)
        moved = _moved(hour, hours)
        if moved:
            shifts[name] = moved
        rate = action_rate(*hours.get(hour + moved, (0, 0)))
        if rate is not None and rate >= OFTEN:
            kept.append(name)
    return Lesson(shifts, tuple(kept), demoted)


def lowered(priority: Priority, *, demoted: bool) -> Priority:
    return LOWER[priority] if demoted else priority


def _moved(hour: int, hours: Hours) -> int:
    """One hour later for each hour in a row that was rarely acted in; three at most, and within 8 to 21."""
    moved = 0
    while moved < MOST_HOURS:
        rate = action_rate(*hours.get(hour + moved, (0, 0)))
        if rate is None or rate >= RARELY or not FIRST_HOUR <= hour + moved + 1 <= LAST_HOUR:
            break
        moved += 1
    return moved
