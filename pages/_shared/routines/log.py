"""What became of each run: when, by whom, how far, how it ended."""

from __future__ import annotations

import streamlit as st

from core.companion.converse.rituals.ritual import Run
from pages._shared import session, tables
from pages._shared.layout import panel
from pages._shared.routines import reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("started_at", "Started", "when"),
    Column("title", "Routine", width=220),
    Column("status", "How it ended"),
    Column("steps", "Steps", "amount"),
    Column("minutes", "Took", "amount"),
    Column("by", "By"),
)
FIELDS = ("started_at", "ended_at", "day", "title", "status", "completed", "total", "by")


def show() -> None:
    says = "Newest first. A run keeps which steps were done and when; what was typed goes to its tool alone."
    with panel("Runs", says):
        found = reading.runs(session.page_number("runs-page"))
        if not found.rows:
            st.text("No routine was run yet.")
            return
        rows = [row(run) for run in found.rows]
        tables.show(rows, COLUMNS, key="runs", zone=my_zone_name(), height="content")
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            pages = -(-found.total // reading.PAGE)
            if pages > 1:
                st.pagination(pages, key="runs-page", bind="query-params", width=280)
            tables.downloads(rows, FIELDS, name="runs", key="runs-file")


def row(run: Run) -> dict[str, object]:
    """A line of the list, and of its file."""
    took = (run.ended_at - run.started_at).total_seconds() if run.ended_at else None
    return {
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "day": run.day.isoformat(),
        "title": f"{run.title} (deleted)" if run.deleted else run.title,
        "status": reading.RUNS[run.status],
        "steps": f"{run.completed} of {run.total}",
        "completed": run.completed,
        "total": run.total,
        "minutes": None if took is None else f"{took / 60:.0f} min" if took >= 60 else f"{took:.0f} s",
        "by": run.by,
    }
