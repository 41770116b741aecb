"""Routines that are made with one click. Source: spec/companion.md, RI-3 and section 18."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.companion.converse.rituals.ritual import Trigger
from core.companion.converse.rituals.step import Find, Step
from core.companion.converse.rituals.steps import check_steps
from core.errors import InputError


@dataclass(frozen=True)
class Template:
    id: str
    title: str
    description: str
    trigger: Trigger
    steps: tuple[Step, ...]


def offered(find: Find) -> tuple[Template, ...]:
    """The templates whose tools there are, each checked."""
    found = []
    for template in TEMPLATES:
        try:
            steps = check_steps(template.steps, find)
        except InputError:
            continue
        found.append(Template(template.id, template.title, template.description, template.trigger, steps))
    return tuple(found)


def _call(label: str, tool: str, *, ask: Sequence[str] = (), take: Any = None, **params: Any) -> Step:
    return Step("tool_call", label, {"tool": tool, "params": params, "ask": list(ask), "take": take or {}})


def _text(label: str, tool: str, param: str, placeholder: str = "", **base: Any) -> Step:
    config = {"tool": tool, "param": param, "base_params": base, "placeholder": placeholder}
    return Step("text_input", label, config)


def _number(label: str, tool: str, param: str, unit: str, **rest: Any) -> Step:
    return Step("number_input", label, {"tool": tool, "param": param, "unit": unit, **rest})


def _info(label: str, source: str) -> Step:
    return Step("info_display", label, {"source": source})


def _list(label: str, *items: str) -> Step:
    return Step("checklist", label, {"items": [{"label": item} for item in items]})


GLASS = _call("Drink a glass of water, 250 ml", "log_drink", drink_type="water", quantity_ml=250)
KEY = {"dialog_key": "dialog_status.dialog_key"}

TEMPLATES = (
    Template(
        "morning", "Morning", "A glass of water, and what the day holds.", "morning",
        (GLASS, _info("Appointments of today", "events_today"), _info("Tasks of today", "tasks_today"),
         _info("Streaks", "streaks")),
    ),
    Template(
        "full-morning", "Full morning", "Water, how it starts, tasks, appointments and breakfast.", "morning",
        (GLASS,
         _text("How do you start the day?", "create_task", "title", "One line; it becomes a task", priority="low"),
         _info("Tasks of today", "tasks_today"), _info("Appointments of today", "events_today"),
         _text("What was breakfast?", "log_meal", "description", "For example: porridge, apple",
               meal_type="breakfast")),
    ),
    Template(
        "evening", "Evening", "What the day came to, and what was good in it.", "evening",
        (_info("Drinks of today", "drink_progress"), _info("Meals of today", "nutrition_progress"),
         _text("What was good today?", "create_task", "title", "One line; it becomes a task")),
    ),
    Template(
        "hydration", "Hydration", "How much it was so far, and the next glass.", "manual",
        (_info("Drinks so far", "drink_progress"),
         _number("How much water now?", "log_drink", "quantity_ml", "ml", min=100, max=1000, default=250,
                 base_params={"drink_type": "water"})),
    ),
    Template(
        "on-call-morning", "On-call morning check", "Health, sync, expired snapshots, tokens, and a hand-over note.",
        "morning",
        (_call("Check the health", "run_health_check"), _info("Health of the components", "health_status"),
         _info("Daily sync", "sync_status"), _call("Count expired snapshots", "preview_cleanup"),
         _info("Tokens of today", "usage_today"),
         _list("Looked at", "Open proposals looked at", "Spikes explained", "No ambiguous keys"),
         _text("Hand-over note", "create_task", "title", "What the next one has to know")),
    ),
    Template(
        "weekly-cleanup", "Weekly cleanup", "Expired snapshots counted, checked and deleted; next week's budget.",
        "manual",
        (_call("Count expired snapshots", "preview_cleanup"), _info("Expired snapshots", "expired_snapshots"),
         _list("Before anything is deleted", "A backup was seen", "The count is plausible", "No sync is running"),
         _call("Delete what was counted", "run_cleanup",
               take={"preview_id": "preview_cleanup.preview_id", "expected_count": "preview_cleanup.expected_count"}),
         _info("Expired snapshots now", "expired_snapshots"),
         _call("Tokens of the week", "usage_summary", range="week"),
         _number("Token budget a day, for next week", "set_token_budget", "value", "tokens", min=1)),
    ),
    Template(
        "wrong-context", "Incident: wrong context reached the prompt", "From the dialog to the report and its cause.",
        "manual",
        (_text("Key of the dialog", "dialog_status", "dialog_key", "As the report names it"),
         _call("Both keys of the pair", "resolve_dialog_key", ask=("ru_id", "tu_id")),
         _call("Search as it was reported", "search_memory", ask=("query",), take=KEY),
         _call("Explain that search", "explain_search", take={**KEY, "query": "search_memory.query"}),
         _list("Could it be", "client_id filter", "compose_mode", "A stale note date", "A duplicate chunk",
               "A key of the other order", "A text cut at 420 or 800 characters"),
         _call("Compare snapshots of two days", "compare_snapshots", ask=("date_a", "date_b"), take=KEY),
         _call("Report wrong context", "report_wrong_context", ask=("reason",),
               take={**KEY, "chunk_ids": "search_memory.ids"}),
         _text("What was the cause?", "create_task", "title", "It becomes an urgent task", priority="high")),
    ),
)  # fmt: skip
