"""Seven local days as bars. Days are category texts, so that no browser shifts them; an empty day is a zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

import plotly.graph_objects as go

from pages._shared import charts, tables
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLOURS = ("#0072B2", "#E69F00", "#7A7A7A")
FEW = 4  # at most so many are counted one by one, not in halves


def card(
    title: str,
    says: str,
    days: Sequence[Mapping[str, Any]],
    series: Mapping[str, str],
    unit: str,
    *,
    key: str,
    goal: float | None = None,
) -> None:
    """`series`: field of a day -> its name in the legend; `goal` is a line."""
    charts.card(title, says, bars(days, series, unit, goal), key=key, table=partial(_table, days, series, unit, key))


def bars(days: Sequence[Mapping[str, Any]], series: Mapping[str, str], unit: str, goal: float | None) -> go.Figure:
    axis = [day["day"] for day in days]
    figure = go.Figure()
    for (field, name), colour in zip(series.items(), COLOURS, strict=False):
        figure.add_bar(
            x=axis,
            y=[day[field] for day in days],
            name=name,
            marker={"color": colour},
            hovertemplate="%{x}<br>" + f"{name}: %{{y:,}} {unit}<extra></extra>",
        )
    if goal:
        figure.add_hline(
            y=goal,
            line={"color": charts.LINE, "dash": "dot", "width": 1.5},
            annotation={
                "text": f"goal {goal:,.0f}",
                "font": {"color": charts.line_text(), "size": 12},
                "bgcolor": charts.ground(),
            },
        )
    labels = [f"{date.fromisoformat(day):%a} {date.fromisoformat(day).day}" for day in axis]
    figure.update_xaxes(type="category", tickvals=axis, ticktext=labels, tickangle=0, showgrid=False)
    top = max([*(sum(float(day[field]) for field in series) for day in days), goal or 0, 1])
    figure.update_yaxes(range=[0, top * 1.15], dtick=1 if top <= FEW else None)
    figure.update_layout(barmode="stack", legend={"traceorder": "normal"})
    return charts.calm(figure, 250, legend=len(series) > 1)


def _table(days: Sequence[Mapping[str, Any]], series: Mapping[str, str], unit: str, key: str) -> None:
    columns = (
        Column("day", "Day", "day"),
        *(Column(field, f"{name} ({unit})", "amount") for field, name in series.items()),
    )
    tables.show(days, columns, key=f"{key}-table", zone=my_zone_name(), height="content")
    tables.downloads(days, [column.field for column in columns], name=key, key=f"{key}-file")
