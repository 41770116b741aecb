"""The context document: complete, bounded, without what a model may not see. Source: spec/companion.md, CD-1 to 4."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.contract import GoalMetric, GoalTarget
from core.companion.reflect.context import CAP_TOKENS, Situation, context_document
from core.companion.reflect.facts import Fact
from core.companion.reflect.goals.goal import Goal
from core.tokens import estimate_tokens
from tests.support.companion_goals import KYIV, NOON

NOW = NOON.astimezone(KYIV)
TODAY = NOW.date()
DAY: dict[str, Any] = {
    "todo": {
        "total": 6,
        "completed": 2,
        "overdue": 1,
        "due_today": [{"title": f"Task {n}", "priority": "high" if n == 1 else "low"} for n in range(1, 8)],
    },
    "calendar": {
        "total": 2,
        "next_event": {"title": "Call", "start_at": "2026-11-25T13:00:00+00:00"},
        "upcoming": [
            {"title": "Call", "start_at": "2026-11-25T13:00:00+00:00"},
            {"title": "Review", "start_at": "2026-11-25T15:30:00+00:00"},
        ],
    },
    "drink": {"water": {"ml": 1250, "goal": 2500, "percent": 50}, "coffee": {"ml": 200, "count": 2}},
    "food": {"meals": 2, "calories": {"actual": 900, "goal": 2000, "percent": 45}},
    "places": {"visited_today": 0, "tracking": True},
    "usage": {"calls": 40, "total": 120_000, "unknown_share": 0.0},
    "errors": {},
}


def goal(title: str, module: str = "todo", **more: Any) -> Goal:
    made = Goal("g", title, module, GoalMetric("event_count"), GoalTarget(5, "day"), "active", 3, TODAY, TODAY, "UTC")
    return replace(made, **more)


def fact(content: str, confidence: float, *modules: str) -> Fact:
    return Fact(content, content, "pattern", content, confidence, 3, 0, NOW, NOW, TODAY, modules)


def streak(label: str, current: int, status: str, **more: Any) -> Any:
    fields = {"module": "todo", "longest": 9, "last_active": TODAY - timedelta(days=5), **more}
    return SimpleNamespace(label=label, current=current, status=status, **fields)


def correlation(sentence: str, r: float, a: str = "todo", b: str = "drink") -> Any:
    factors = {"factor_a": SimpleNamespace(module=a), "factor_b": SimpleNamespace(module=b)}
    return SimpleNamespace(id=sentence, sentence=sentence, coefficient=r, **factors)


FULL = Situation(
    now=NOW,
    day=DAY,
    goals=(goal("Five tasks"), goal("Calories", "food"), goal("Paused", status="paused")),
    streaks=(streak("Water", 4, "active"), streak("Tasks", 8, "at_risk"), streak("Meals", 0, "broken", module="food")),
    facts=(fact("Tasks on Mondays.", 0.7, "todo"), fact("Meals at noon.", 0.9, "food"), fact("Unsure.", 0.5, "todo")),
    correlations=(correlation("More coffee, more tasks.", 0.61), correlation("Meals.", 0.9, b="food")),
    sensitive=frozenset({"food"}),
)


def test_everything_in_its_order() -> None:
    """Header, today, goals, streaks, patterns, correlations; the same for the same input."""
    text = context_document(FULL, for_model=False)
    assert text.startswith(
        "Wednesday 2026-11-25, 12:00 (Europe/Kyiv)\n## Today\n- Tasks: 6 open, 2 done today, 1 overdue"
    )
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == ["## Today", "## Goals", "## Streaks", "## Known patterns", "## Correlations"]
    for line in (
        "due today: Task 1 (high priority)",
        "Appointments: 2 today, next Call at 15:00",
        "later: Review at 17:30",
        "Water: 1250 of 2500 ml (50 %); coffee: 2",
        "Meals: 2, 900 of 2000 kcal (45 %)",
        "Places: tracking is on",
        "Usage: 40 calls, 120,000 tokens",
        "Five tasks: 3 of 5 this day",
        "Tasks: 8 days, AT RISK today",
        "Meals: broken, record 9, last 5 days ago",
        "Meals at noon. (90% sure)",
        "More coffee, more tasks. (r +0.61)",
    ):
        assert f"- {line}" in text.splitlines()
    assert "Task 6" not in text and "Paused" not in text and "Unsure" not in text
    assert text == context_document(FULL, for_model=False)


def test_what_is_sensitive_reaches_no_model() -> None:
    """Neither its lines nor what follows from them: goals, streaks, facts, correlations."""
    text = context_document(FULL, for_model=True)
    for word in ("Meals", "kcal", "Calories"):
        assert word not in text
    assert "Tasks: 6 open" in text and "More coffee" in text


def test_an_empty_day() -> None:
    """A date and nothing invented; a section that failed says nothing."""
    assert context_document(Situation(NOW, {}), for_model=False) == "Wednesday 2026-11-25, 12:00 (Europe/Kyiv)"
    failed: dict[str, Any] = {"todo": {"total": 0}, "errors": {"todo": "timeout"}}
    assert "Tasks" not in context_document(Situation(NOW, failed), for_model=False)


@pytest.mark.parametrize("size", [1, 3, 10, 100])
def test_never_over_the_cap(size: int) -> None:
    """Correlations go first, then patterns beyond three, broken streaks, titles; at last whole lines."""
    long = "x" * 60
    big = replace(
        FULL,
        goals=tuple(goal(f"{n} {long}") for n in range(size)),
        streaks=tuple(streak(f"{n} {long}"[:40], 0, "broken") for n in range(size)),
        facts=tuple(fact(f"{n} {long * 2}", 0.9, "todo") for n in range(size)),
        correlations=tuple(correlation(f"{n} {long * 2}", 0.9) for n in range(size)),
    )
    text = context_document(big, for_model=False)
    assert estimate_tokens(text) <= CAP_TOKENS
    assert "## Correlations" not in text or size <= 3
    assert "Tasks: 6 open" in text


def test_of_a_real_core(core: Core) -> None:
    """On an empty database: a date, and no failure."""
    text = core.companion.reflection.context(for_model=True)
    assert str(date.today().year) in text
    assert estimate_tokens(text) <= CAP_TOKENS
