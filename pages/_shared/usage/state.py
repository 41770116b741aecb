"""Whether the figures are whole: rows that wait on disk, the rollup, calls without a time; and unusual hours."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.usage.lines import Summary
from core.usage.periods import hour_label
from pages._shared import actions, formats, parts, tables
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.tables import Column
from pages._shared.usage import reading, words
from pages._shared.usage.choices import Choice
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("hour", "Hour"),
    Column("level", "How much"),
    Column("total", "Tokens", "count"),
    Column("median", "Usual", "count", help="Median of the same hour on the 14 days before that had usage then."),
    Column("times", "Times", "amount"),
    Column("days", "Days compared", "count"),
    Column("calls", "Calls", "count"),
)
HIGH = 6


def whole(summary: Summary) -> None:
    """Only what keeps the figures from being whole; nothing while they are."""
    waiting = reading.waiting()
    depth = waiting.depth
    if depth.waiting or depth.in_memory or depth.refused:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="usage-spool"):
            st.badge("waiting", color="orange")
            st.text(
                f"{formats.plural(depth.waiting + depth.in_memory, 'row')} on disk, not yet in the table"
                + (f"; {depth.refused:,} refused by the database, kept in a file" if depth.refused else "")
                + (f". {waiting.reason}" if waiting.reason else ".")
            )
            if st.button("Write now", key="usage-flush", icon=":material/sync:"):
                with boundary("Writing"):
                    st.toast("All rows are written." if actions.flush_usage() else "Some rows still wait.")
    if summary.stale:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="usage-stale"):
            st.badge("stale", color="orange")
            st.text("A write was not added to the totals. Rebuilding reads every row and stops nobody.")
            if parts.button("rebuild_rollups", "Rebuild the totals", key="usage-rebuild", icon=":material/calculate:"):
                with boundary("The rebuild"):
                    st.toast(f"{formats.plural(actions.rebuild_usage(), 'sum')} changed.")
                    st.rerun()
    if summary.undated:
        st.caption(f"{formats.plural(summary.undated, 'call')} have no time and are in no range.")


def anomalies(choice: Choice) -> None:
    """Hours far above the same hour of the days before."""
    says = "Above 3 times the median of the same hour on the 14 days before (5 of them with usage) and 10,000 tokens."
    with panel("Unusual hours", says), boundary("Unusual hours"):
        found = reading.anomalies(choice.period).value
        if not found:
            st.text("No hour of the range is out of the usual.")
            return
        rows: list[dict[str, Any]] = [
            {
                "hour": hour_label(a.hour, my_zone()),
                "level": "high" if a.factor is None or a.factor > HIGH else "medium",
                "total": a.total,
                "median": a.median,
                "times": None if a.factor is None else f"{a.factor:.1f}",
                "factor": a.factor,
                "days": a.days,
                "calls": a.calls,
            }
            for a in found
        ]
        tables.show(rows, COLUMNS, key="usage-anomalies", zone=my_zone_name())
        tables.downloads(
            rows,
            [c.field for c in COLUMNS if c.field != "times"] + ["factor"],
            name="unusual-hours",
            key="usage-anomalies-file",
        )
        st.caption(f"The largest: {words.tokens(max(a.total for a in found))} tokens.")
