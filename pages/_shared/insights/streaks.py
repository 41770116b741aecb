"""Streaks: how long something has held, and the days behind it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import streamlit as st

from core.companion.reflect.streaks import Streak
from pages._shared import formats, tables
from pages._shared.companion import mind
from pages._shared.feedback import boundary, empty
from pages._shared.layout import Figure, figures, panel
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

WORDS = {"active": "active", "at_risk": "at risk", "broken": "broken"}
COLUMNS = (
    Column("label", "Streak", width=240),
    Column("module", "Part"),
    Column("status", "State"),
    Column("current", "Days now", "count"),
    Column("longest", "Record", "count"),
    Column("last_active", "Last day", "day"),
    Column("rule", "Allowed gap", help="Days that may be missed without ending it."),
)
DAYS = (Column("day", "Day", "day"), Column("value", "Value", "amount"), Column("of", "Asked for", "amount"),
        Column("kept", "Kept"))  # fmt: skip
BACK = 30


def show(streaks: Sequence[Streak]) -> None:
    """Those at risk first; a row shows its days."""
    if not any(streak.last_active for streak in streaks):
        empty(
            "No streak has begun",
            "A streak counts days in a row: a task done, a meal logged, enough water, a complete daily sync, no call "
            "of an unknown model. The first such day begins it.",
        )
        if not streaks:
            return
    risky = [streak for streak in streaks if streak.status == "at_risk"]
    longest = max(streaks, key=lambda streak: streak.current)
    figures(
        Figure("Active", str(sum(streak.status == "active" for streak in streaks)), f"Of {len(streaks)}."),
        Figure("At risk", str(len(risky)), "They end unless something happens today."),
        Figure("Longest now", formats.plural(longest.current, "day"), None, longest.label if longest.current else None),
    )
    order = ("at_risk", "active", "broken")
    ranked = sorted(streaks, key=lambda streak: (order.index(streak.status), -streak.current, streak.label))
    for note in sorted({streak.zone_note for streak in streaks if streak.zone_note}):
        st.caption(note)
    with panel("Streaks", "Choose a row for its days. A day that is not over can still count."):
        rows = [row(streak) for streak in ranked]
        chosen = tables.show(rows, COLUMNS, key="streaks", zone=my_zone_name(), select=True, height="content")
        tables.downloads(rows, [column.field for column in COLUMNS], name="streaks", key="streaks-file")
    if chosen is not None:
        with boundary("The days of the streak"):
            _days(ranked[chosen])


def row(streak: Streak) -> dict[str, Any]:
    return {
        "label": streak.label,
        "module": streak.module,
        "status": WORDS[streak.status],
        "current": streak.current,
        "longest": streak.longest,
        "last_active": streak.last_active,
        "rule": "none" if streak.grace == 0 else formats.plural(streak.grace, "day"),
    }


def _days(streak: Streak) -> None:
    since = mind.today() - timedelta(days=BACK - 1)
    found = core().companion.streaks.history(streak.id, since)
    rows = [
        {"day": day["day"], "value": day["value"], "of": day["threshold"], "kept": "yes" if day["active"] else "no"}
        for day in reversed(found)
    ]
    with panel(f"The last {BACK} days", "Days without anything of it are left out."):
        st.text(streak.label)
        if rows:
            tables.show(rows, DAYS, key="streak-days", zone=my_zone_name(), height="content")
        else:
            st.text("None of these days has anything of it.")
