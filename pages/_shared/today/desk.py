"""The cards of the dashboard's own parts: memory, snapshots, usage, health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages._shared import formats, light
from pages._shared.today.lines import bar, lines

Section = Mapping[str, Any]


def memory(day: Section) -> None:
    lines(
        ("searches today", day["searches"]),
        ("ingests today", day["ingests"]),
        ("95 % of searches within", formats.milliseconds(day["p95_ms"])),
        ("by words alone", f"{day['fallback_percent']:g} %"),
        ("pairs under two keys", day["ambiguous_dialogs"]),
    )
    if not day["total_chunks"]:
        st.text("Nothing is stored yet.")


def snapshots(day: Section) -> None:
    if day["expected"]:
        bar(day["synced_percent"], f"{day['synced']:,} of {day['expected']:,} dialogs synced today")
    else:
        st.text("No sync is due today.")
    lines(("missing", day["missing"]), ("changed today", day["changed"]), ("expired", day["expired"]))


def usage(day: Section) -> None:
    budget, cost = day["budget"], day["cost"]
    if budget["limit"]:
        bar(
            budget["percent"] or 0.0,
            f"{budget['percent']:g} % of the budget of {formats.short(budget['limit'])} tokens",
        )
    lines(
        ("requests today", day["requests"]),
        ("tokens", formats.short(day["total"])),
        ("cost (USD)", f"{'at least ' if day['cost_is_lower_bound'] else ''}{cost:.4g}"),
        ("of unknown models", f"{day['unknown_percent']:g} %"),
    )
    if not day["calls"]:
        st.text("No call is logged today.")


def health(day: Section) -> None:
    status = str(day.get("status", "unknown"))
    light.badge("down" if status == "needs_migration" else status)
    wrong = [name for name, state in (day.get("components") or {}).items() if state in ("degraded", "down")]
    uptime = day.get("uptime_percent")
    lines(
        ("checks today", day.get("checks", 0)),
        ("well in the last 24 h", "–" if uptime is None else f"{uptime:g} %"),
        ("pending migrations", len(day.get("pending_migrations") or ())),
    )
    if wrong:
        st.text(f"Not well: {', '.join(sorted(wrong))}.")
