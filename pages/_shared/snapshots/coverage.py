"""Coverage: which dialog was synced on which day. Days are stored ones, drawn as words: no browser moves them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.snapshots.coverage import MEANING, Calendar, Status
from pages._shared import address, charts, formats, session, tables
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.session import DialogChoice
from pages._shared.snapshots import choices, reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLOURS: Mapping[Status, str] = {
    "unknown": "rgba(128,128,128,0.12)",
    "due": "#56B4E9",
    "missing": "#D55E00",
    "partial": "#E69F00",
    "complete": "#009E73",
}
SIGNS: Mapping[Status, str] = {"unknown": "", "due": "?", "missing": "×", "partial": "/", "complete": "✓"}
WINDOWS = {"14": "14 days", "31": "31 days", "92": "92 days"}
DIALOGS = (
    Column("number", "Row", "count", width=50, pinned=True, help="The row of the chart above."),
    Column("ru_id", "RU", pinned=True),
    Column("tu_id", "TU"),
    Column("key", "Key"),
    Column("missing", "Missing days", "count"),
    Column("partial", "Partial", "count"),
    Column("complete", "Complete", "count"),
)
DAYS = (
    Column("day", "Day", "day", pinned=True),
    Column("dialogs", "Dialogs", "count"),
    Column("complete", "Completed syncs", "count"),
    Column("partial", "Partial", "count", help="Entities, and no mark that the sync was completed."),
    Column(
        "missing", "Missing syncs", "count", help="Due (one was completed in the three days before), and none came."
    ),
    Column("entities", "Entities", "count", help="From the snapshots, or from the hashes that outlive them."),
    Column("stored", "Still stored", "count"),
)


def show(chosen: DialogChoice | None, last: date, head: Head) -> None:
    span = address.segments("Window", WINDOWS, "window", default="14")
    first = last - timedelta(days=int(span) - 1)
    key = chosen.dialog_key if chosen else None
    page = session.page_number("dialogs")
    totals, found = reading.days(first, last, key), reading.calendar(first, last, key, page)
    head.as_of(totals.at, found.at)
    stale(found)
    if not found.value.rows:
        empty(
            "Nothing is known of these days",
            "No snapshot was written in this window. The existing service writes them daily; try a longer one.",
        )
        return
    _calendar(found.value, page)
    rows = [{name: getattr(d, name) for name in ("day", *(c.field for c in DAYS[1:]))} for d in reversed(totals.value)]
    with panel("By day", "An empty cell is a day of which nothing is known: that is not zero. Click a row to see it."):
        picked = tables.show(rows, DAYS, key="coverage-days", zone=my_zone_name(), select=True, height="content")
        tables.downloads(rows, [c.field for c in DAYS], name="coverage-by-day", key="coverage-days-file")
    if picked is not None:
        choices.go("day", day=date.fromisoformat(rows[picked]["day"]))


def figure(calendar: Calendar) -> go.Figure:
    """A cell per dialog and day; rows are numbered, so that nothing that somebody chose as a key is drawn."""
    codes = {status: n for n, status in enumerate(COLOURS)}
    names = [f"{n}" for n in range(1, len(calendar.rows) + 1)]
    scale = []
    for n, colour in enumerate(COLOURS.values()):
        scale += [[n / len(COLOURS), colour], [(n + 1) / len(COLOURS), colour]]
    drawn = go.Figure(
        go.Heatmap(
            x=list(calendar.days),
            y=names,
            z=[[codes[d.status] for d in row.days] for row in calendar.rows],
            customdata=[
                [d.status if d.entities is None else f"{d.status}, {d.entities:,} entities" for d in row.days]
                for row in calendar.rows
            ],
            text=[[SIGNS[d.status] for d in row.days] for row in calendar.rows],
            texttemplate="%{text}",
            textfont={"size": 11, "color": "#0d141c"},
            zmin=-0.5,
            zmax=len(COLOURS) - 0.5,
            colorscale=scale,
            showscale=False,
            xgap=2,
            ygap=2,
            hovertemplate="dialog %{y}, %{x}<br>%{customdata}<extra></extra>",
        )
    )
    for status, colour in COLOURS.items():
        drawn.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"color": colour, "symbol": "square", "size": 11},
            name=f"{status} {SIGNS[status]}".strip(),
        )
    every = max(1, -(-len(calendar.days) // 5))
    shown = list(calendar.days)[::every]
    labels = [f"{date.fromisoformat(day):%-d %b}" for day in shown]
    drawn.update_xaxes(type="category", tickvals=shown, ticktext=labels, tickangle=0, showgrid=False)
    drawn.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return charts.calm(drawn, 24 * len(calendar.rows) + 90)


def _cells(calendar: Calendar) -> None:
    rows = [
        {"row": number, "day": day.day, "status": day.status}
        for number, row in enumerate(calendar.rows, start=1)
        for day in row.days
    ]
    columns = (Column("row", "Row", "count"), Column("day", "Day", "day"), Column("status", "Status"))
    tables.show(rows, columns, key="coverage-cells", zone=my_zone_name())


def _calendar(calendar: Calendar, page: int) -> None:
    says = " ".join(f"{status.capitalize()}: {words}" for status, words in MEANING.items() if status != "unknown")
    rows: list[dict[str, Any]] = [
        {
            "number": number,
            "ru_id": row.ru_id,
            "tu_id": row.tu_id,
            "dialog_key": row.dialog_key,
            "key": formats.key(row.dialog_key),
            **{name: sum(d.status == name for d in row.days) for name in ("missing", "partial", "complete")},
        }
        for number, row in enumerate(calendar.rows, start=1)
    ]
    with panel("Daily syncs (dialogs by day)", says):
        st.plotly_chart(figure(calendar), key="calendar", config={"displayModeBar": False, "scrollZoom": False})
        with st.expander("Table", type="compact"):
            _cells(calendar)
        today = datetime.now(UTC).date()
        st.caption(f"Rows are numbered as in the table beneath, most missing first. Today is {today} in UTC.")
        picked = tables.show(
            rows, DIALOGS, key=f"coverage-dialogs-{page}", zone=my_zone_name(), select=True, height="content"
        )
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            pages = max(1, -(-calendar.total // reading.PAGE))
            if pages > 1:
                st.pagination(pages, key="dialogs", bind="query-params", width=280)
            st.caption(formats.plural(calendar.total, "dialog"), width="content")
            fields = [c.field for c in DIALOGS if c.field != "key"] + ["dialog_key"]
            tables.downloads(rows, fields, name="coverage", key="coverage-file")
    if picked is not None and session.dialog() is None:
        row = rows[picked]
        session.choose_dialog(DialogChoice(row["dialog_key"], row["ru_id"], row["tu_id"]))
        st.rerun()
