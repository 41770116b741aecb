"""Rules about tasks, and the sums of morning and evening."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.companion.contract import At, Rule
from tests.core.companion.modules.conftest import context


def tasks(**more: Any) -> dict[str, Any]:
    return {"total": 5, "completed": 0, "overdue": 0, "due_today": [], **more}


@pytest.mark.parametrize(("late", "priority"), [(0, None), (1, "medium"), (3, "medium"), (4, "high")])
def test_overdue(rules: Mapping[str, Rule], late: int, priority: str | None) -> None:
    """None is silent; more than three are urgent (91)."""
    nudge = rules["overdue-tasks"].check(context(10, todo=tasks(overdue=late)))
    assert (nudge.priority if nudge else None) == priority


def test_overdue_slots(rules: Mapping[str, Rule]) -> None:
    """10:00 and 15:00 are two nudges, a late run keeps the id of its slot; it is over with the last of them."""
    rule = rules["overdue-tasks"]
    assert rule.trigger == At(((10, 0), (15, 0)))
    ids = [rule.check(context(hour, todo=tasks(overdue=1))).id for hour in (10, 11, 15, 16)]
    assert ids == ["overdue-2026-11-30-10"] * 2 + ["overdue-2026-11-30-15"] * 2
    assert rule.resolves(context(12, todo=tasks()), ids[0])
    assert not rule.resolves(context(12, todo=tasks(overdue=1)), ids[0])


def test_morning(rules: Mapping[str, Rule]) -> None:
    """Only the parts there are; a word for nothing; medium where something is overdue."""
    morning = rules["morning-summary"]
    empty = morning.check(context(8))
    assert (empty.priority, empty.body) == ("low", "Nothing is due today and no appointment is noted.")
    day = {"total": 1, "all_day": [], "upcoming": [], "next_event": None}
    full = morning.check(context(8, todo=tasks(overdue=2, due_today=[{}]), calendar=day))
    assert (full.priority, full.body) == ("medium", "1 task due today, 2 overdue, 1 appointment.")
    assert full.id == "morning-2026-11-30" and full.action_route == "routines"


def test_evening(rules: Mapping[str, Rule]) -> None:
    """The figures of the day, at 21:00, until midnight."""
    rule = rules["evening-reflection"]
    nudge = rule.check(context(21, todo=tasks(completed=3)))
    assert nudge.body == "3 tasks completed, 0 of 2,500 ml water, 0 meals."
    assert nudge.expires_at.isoformat() == "2026-12-01T00:00:00+02:00"
    assert rule.trigger == At(((21, 0),)) and nudge.action_route == "routines"
