"""Calls to language models by the companion itself: tokens by day, task and tier, in no other total."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from core.bootstrap import Core
from core.companion.converse.llm.router import CALLED
from core.usage.periods import Period, day_buckets, last_days
from pages._shared import charts, formats, layout, reads, tables
from pages._shared.feedback import empty
from pages._shared.layout import Figure
from pages._shared.reads import Read
from pages._shared.resources import core, settings
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.usage import drawing

DAYS = 30
COLUMNS = (
    Column("day", "Day"),
    Column("task", "For"),
    Column("tier", "By"),
    Column("model", "Model", width=170),
    Column("outcome", "Came to", width=140),
    Column("calls", "Calls", "count"),
    Column("tokens", "Tokens", "count"),
    Column("prompt_tokens", "Prompt", "count"),
    Column("completion_tokens", "Completion", "count"),
    Column("latency", "Mean time"),
)
FIELDS = ("day", "task", "tier", "model", "outcome", "calls", "tokens", "prompt_tokens", "completion_tokens")
TASKS = {"chat": "chat", "plan": "missions", "ritual": "routines", "extract": "weekly look"}

Rows = Sequence[Mapping[str, Any]]


def usage(period: Period) -> Read[list[dict[str, Any]]]:
    """Rows of the local days of a period. Errors: CoreError."""
    key = (period.start, period.end)
    return reads.standing(("ai-usage", *key), lambda: _usage(core(), *key))


@st.cache_data(ttl=10, max_entries=8, show_spinner=False)  # one row a day, task and model
def _usage(_core: Core, since: datetime, until: datetime) -> Read[list[dict[str, Any]]]:
    return Read(_core.companion.router.runs.usage(since, until, _core.settings.time_zone), _core.clock.now())


def budget() -> None:
    """The Budget view of Workbench."""
    now = core().clock.now().astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    period = last_days(DAYS, now, settings().zone)
    rows = usage(period).value
    limit = core().companion.router.choices.read().tokens_per_day
    today = now.astimezone(settings().zone).date().isoformat()
    spent = sum(_tokens(row) for row in rows if row["day"] == today)
    asked = [row for row in rows if row["tier"] != "rules"]
    calls = sum(row["calls"] for row in asked)
    layout.figures(
        Figure("Spent today", formats.count(spent), "Prompt and completion tokens of all tasks together."),
        Figure("A day's limit", formats.count(limit), "Once it is reached only rules answer, until midnight.",
               f"{min(999, round(100 * spent / limit))} % used" if limit else "no model is asked"),
        Figure(f"Calls, {DAYS} days", formats.count(calls), "Calls that a model was asked for."),
        Figure("By rules", formats.count(sum(r["calls"] for r in rows if r["tier"] == "rules")),
               "Calls that no model answered: the list says why."),
    )  # fmt: skip
    st.page_link(place("companion_settings").path, label="Change the limit", icon=place("companion_settings").icon)
    if not rows:
        empty(
            "No model was asked yet", "Each call of the chat, of missions and routines is counted here, without text."
        )
        return
    _chart(rows, period, "ai-budget", limit)
    _table(rows, "ai-budget")


def series(period: Period) -> None:
    """On the Usage page: a series of its own, in no total of that page."""
    rows = usage(period).value
    if not rows:
        return
    _chart(rows, period, "ai-usage", None)


def _chart(rows: Rows, period: Period, key: str, limit: int | None) -> None:
    amounts: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["tier"] != "rules":
            days = amounts.setdefault(f"{TASKS.get(row['task'], row['task'])} · {CALLED[row['tier']]}", {})
            days[row["day"]] = days.get(row["day"], 0) + _tokens(row)
    if not amounts:  # rules answered all of them: axes without a bar would say nothing
        return
    charts.card(
        "The companion's own calls",
        f"Tokens by day of {settings().time_zone}, by task and tier. They are in no other total of the product.",
        drawing.over_time(day_buckets(period, settings().zone), amounts, "tokens", limit),
        key=f"{key}-chart",
    )


def _table(rows: Rows, key: str) -> None:
    with layout.panel("Calls by day", "What for, by which tier, and what it came to."):
        shown = [
            {
                **row,
                "task": TASKS.get(row["task"], row["task"]),
                "tier": CALLED.get(row["tier"], row["tier"]),
                "tokens": _tokens(row),
                "latency": formats.milliseconds(row["latency_ms"]),
            }
            for row in reversed(rows)
        ]
        tables.show(shown, COLUMNS, key=f"{key}-table", zone=settings().time_zone)
        tables.downloads(shown, FIELDS, name="ai-calls", key=f"{key}-file")


def _tokens(row: Mapping[str, Any]) -> int:
    return int(row["prompt_tokens"]) + int(row["completion_tokens"])
