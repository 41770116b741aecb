"""A routine put together by rules: from what somebody asks for, else from the parts in use and the goals. Pure.

Source: spec/companion.md, RI-6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.companion.converse.rituals.ritual import Ritual, Trigger
from core.companion.converse.rituals.rituals import drafted
from core.companion.converse.rituals.step import Find, Step
from core.companion.converse.rituals.steps import check_step
from core.companion.reflect.goals.goal import Goal
from core.errors import InputError

STEPS_MOST = 10
# In the order in which a day is gone through.
PARTS = ("health", "snapshots", "usage", "memory", "drink", "food", "todo", "calendar", "places")
WORDS: Mapping[str, tuple[str, ...]] = {
    "todo": ("task", "todo", "to do", "to-do", "hand-over", "handover"),
    "calendar": ("calendar", "appointment", "meeting"),
    "drink": ("drink", "water", "hydrat", "coffee"),
    "food": ("food", "meal", "eat", "breakfast", "lunch", "dinner", "nutrition"),
    "places": ("place", "visit"),
    "memory": ("memory", "dialog", "ingest", "chunk", "search"),
    "snapshots": ("snapshot", "sync", "expire", "cleanup", "clean-up", "clean up"),
    "usage": ("usage", "token", "cost", "budget", "spend", "spike"),
    "health": ("health", "on-call", "on call", "component", "incident", "shift"),
    "goals": ("goal",),
    "streaks": ("streak",),
}
FALLBACK: Mapping[str, tuple[str, ...]] = {
    "morning": ("health", "snapshots", "todo", "calendar", "drink"),
    "evening": ("drink", "food", "usage", "todo"),
    "manual": ("health", "snapshots", "usage", "todo"),
}
TITLES = {"morning": "Morning", "evening": "Evening", "manual": "Routine"}
MEALS = {"morning": "breakfast", "evening": "dinner", "manual": "snack"}


def named_in(wish: str) -> tuple[str, ...]:
    """The parts that a wish names, in the order of the day."""
    said = wish.casefold()
    found = [part for part, words in WORDS.items() if any(word in said for word in words)]
    return tuple(sorted(found, key=lambda part: PARTS.index(part) if part in PARTS else len(PARTS)))


def parts_in_use(day: Mapping[str, Mapping[str, Any]], empty: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The parts with something to show today; `empty`: the section of each when there is nothing."""
    failed = day.get("errors", {})
    return tuple(
        part
        for part in PARTS
        if part in day and part not in failed and any(_fills(day[part].get(k), v) for k, v in empty[part].items())
    )


def compose(
    wish: str, trigger: Trigger, in_use: Collection[str], goals: Sequence[Goal], find: Find, *, title: str = ""
) -> Ritual:
    """1 to 10 steps that this installation can do."""
    wanted = named_in(wish)
    parts = [part for part in wanted if part in PARTS]
    if not wanted:
        of_goals = {
            module for goal in goals if goal.status == "active" for module in (goal.module, *goal.linked_modules)
        }
        parts = [part for part in PARTS if part in in_use or part in of_goals] or list(FALLBACK[trigger])
    steps: list[Step] = []
    for part in parts:
        steps += [step for step in _part(part, trigger) if _fits(step, find)]
    ends = []
    if "goals" in wanted or (not wanted and any(goal.status == "active" for goal in goals)):
        ends.append(Step("info_display", "Goals", {"source": "goals"}))
    if "streaks" in wanted or (not wanted and trigger == "morning"):
        ends.append(Step("info_display", "Streaks", {"source": "streaks"}))
    chosen = (*steps[: STEPS_MOST - len(ends)], *ends) or (Step("info_display", "Tasks", {"source": "tasks_today"}),)
    return drafted(title or TITLES[trigger], trigger, chosen, origin="rules")


def _part(part: str, trigger: Trigger) -> tuple[Step, ...]:
    """What there is to look at in a part, and what there is to do."""
    if part == "health":
        return _call("Check the health", "run_health_check"), _info("Health of the components", "health_status")
    if part == "snapshots":
        return _info("Daily sync", "sync_status"), _info("Expired snapshots", "expired_snapshots")
    if part == "usage":
        return (_info("Tokens of today", "usage_today"),)
    if part == "memory":
        return (_info("Dialogs of the memory", "dialog_status"),)
    if part == "drink":
        water = {"base_params": {"drink_type": "water"}, "unit": "ml", "min": 100, "max": 1000, "default": 250}
        step = Step("number_input", "How much water now?", {"tool": "log_drink", "param": "quantity_ml", **water})
        return (_info("Drinks so far", "drink_progress"), step)
    if part == "food":
        meal = MEALS[trigger]
        config = {"tool": "log_meal", "param": "description", "base_params": {"meal_type": meal}}
        step = Step("text_input", f"What was {meal}?" if meal != "snack" else "What did you eat?", config)
        return (_info("Meals so far", "nutrition_progress"), step)
    if part == "todo":
        label = "What was good today?" if trigger == "evening" else "What is to be done next?"
        return (
            _info("Tasks of today", "tasks_today"),
            Step("text_input", label, {"tool": "create_task", "param": "title"}),
        )
    if part == "calendar":
        return (_info("Appointments of today", "events_today"),)
    return (_call("Places", "get_places"),)


def _call(label: str, tool: str) -> Step:
    return Step("tool_call", label, {"tool": tool})


def _info(label: str, source: str) -> Step:
    return Step("info_display", label, {"source": source})


def _fits(step: Step, find: Find) -> bool:
    try:
        check_step(step, find)
    except InputError:
        return False
    return True


def _fills(value: Any, empty: Any) -> bool:
    """More than there is in an empty section: a count above it, a list with something in it."""
    if isinstance(value, Mapping):
        return isinstance(empty, Mapping) and any(_fills(value.get(k), v) for k, v in empty.items() if k != "goal")
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return False
    if isinstance(value, (int, float)):
        return isinstance(empty, (int, float)) and value > empty
    return isinstance(value, (list, tuple)) and len(value) > 0 and not empty
