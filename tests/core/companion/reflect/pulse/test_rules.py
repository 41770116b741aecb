"""The rules that belong to no module. Source: spec/companion.md section 6."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from core.companion.contract import GoalMetric, GoalTarget, RuleContext
from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.pulse.rules import (
    correlation_insight,
    goal_progress,
    goal_reached,
    insight_of,
    streak_warning,
)
from tests.support.companion_goals import KYIV, NOON


@dataclass(frozen=True)
class Streak:
    id: str
    label: str
    current: int
    status: str
    module: str = "todo"


def context(**parts: Any) -> RuleContext:
    return RuleContext(now=NOON.astimezone(KYIV), zone=KYIV, day={}, **parts)


def goal(title: str, value: float | None, target: float, comparison: str = "gte", **more: Any) -> Goal:
    today = date(2026, 11, 25)
    wanted = GoalTarget(target, more.pop("period", "day"), comparison)  # type: ignore[arg-type]
    fields = {"status": "active", **more}
    return Goal(
        "g", title, "todo", GoalMetric("event_count"), wanted, value=value, start=today, end=today, zone="UTC", **fields
    )


@pytest.mark.parametrize(("days", "priority"), [(7, "medium"), (8, "high")])
def test_the_longest_streak_at_risk(days: int, priority: str) -> None:
    """More than seven days are urgent (case 90); others are counted."""
    streaks = [
        Streak("a", "Tasks", days, "at_risk"),
        Streak("b", "Water", 2, "at_risk"),
        Streak("c", "X", 99, "active"),
    ]
    nudge = streak_warning(context(streaks=streaks))
    assert nudge is not None
    assert (nudge.title, nudge.priority) == (f"Tasks: {days} days at risk", priority)
    assert nudge.body.endswith("1 more is at risk.")
    assert streak_warning(context(streaks=streaks[2:])) is None


def test_progress_of_today() -> None:
    """60 to 99 % of a target, 80 % and more of a limit; no other period, none without a value."""
    goals = [
        goal("Low", 2, 5),
        goal("Near", 3, 5),
        goal("Done", 5, 5),
        goal("Within", 79, 100, "lte"),
        goal("Used", 80, 100, "lte"),
        goal("Over", 120.5, 100, "lte"),
        goal("Week", 4, 5, period="week"),
        goal("Unknown", None, 5),
        goal("Paused", 4, 5, status="paused"),
    ]
    nudge = goal_progress(context(goals=goals))
    assert nudge is not None
    assert nudge.body == "Near: 2 to go; Used: 20 left; Over: 20.5 over the limit."
    assert goal_progress(context(goals=goals[:1])) is None


def test_reached_once_per_period_and_not_for_what_is_long_over() -> None:
    """The id is of goal and period; a period before the last one is no news."""

    def said(start: str) -> Any:
        payload = {"goal_id": "g", "title": "T", "value": 8, "target": 8, "period": "day", "period_start": start}
        return goal_reached(context(event=SimpleNamespace(payload=payload)))

    today, yesterday = said("2026-11-25"), said("2026-11-24")
    assert (today.id, today.body) == ("goal-reached-g-2026-11-25", "8 of 8 this day.")
    assert yesterday.id == "goal-reached-g-2026-11-24"
    assert said("2026-11-23") is None


def test_an_insight_that_was_not_said_lately() -> None:
    """The strongest by amount; said within 30 days it is the next one's turn."""
    found = [
        SimpleNamespace(id="corr:a:b", coefficient=-0.8, p_value=0.001, sample_size=40, sentence="A, less B."),
        SimpleNamespace(id="corr:a:c", coefficient=0.5, p_value=0.01, sample_size=30, sentence="A, more C."),
    ]
    first = correlation_insight(context(correlations=found))
    assert first is not None and insight_of(first) == "corr:a:b"
    assert "r -0.80, p 0.001, 40 days" in first.body
    shown: dict[str, datetime] = {first.id: NOON - timedelta(days=7)}
    second = correlation_insight(context(correlations=found, shown=shown))
    assert second is not None and insight_of(second) == "corr:a:c"
    assert correlation_insight(context(correlations=found, shown={**shown, second.id: NOON})) is None
