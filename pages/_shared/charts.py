"""Charts in one manner: thin grid, legend beneath, one colour per source, exact values on hover.

Nothing that a person wrote goes into a chart: its labels are sources, ranks and days.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta

import plotly.graph_objects as go
import streamlit as st

from pages._shared import tables
from pages._shared.layout import panel

SOURCE_COLOURS = {
    "note": "#0072B2",
    "profile": "#009E73",
    "photo": "#CC79A7",
    "summary": "#E69F00",
    "conversation": "#7A7A7A",
}
OTHER = "#999999"
GRID = "rgba(128,128,128,0.18)"
LINE = "#D55E00"
PATTERNS = ("", "/", "x", ".", "\\", "-", "|", "+")  # what is stacked is told apart without its colour
ON_LIGHT = "#5f6673"  # the theme's own grey of axes has less than 4.5:1 on a light page


def line_text() -> str:
    """The colour of words at a line; darker on a light page, for 4.5:1."""
    return "#C05500" if st.context.theme.type == "light" else LINE


def ground() -> str:
    """The colour of a page, for words that lie over marks."""
    return "#ffffff" if st.context.theme.type == "light" else "#14171f"


def colour(source: str) -> str:
    return SOURCE_COLOURS.get(source, OTHER)


def lighter(source: str) -> str:
    """The same hue, lighter: a boost, beside the cosine it is added to."""
    parts = (int(colour(source)[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)  # half way to white, on a dark page as well


def calm(figure: go.Figure, height: int, *, legend: bool = True) -> go.Figure:
    """Margins, grid and legend of every chart; patterns where bars are stacked."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=legend,
        legend={"orientation": "h", "yanchor": "top", "y": -0.12, "x": 0, "title": None},
        hoverlabel={"align": "left"},
        bargap=0.25,
    )
    if legend and figure.layout.barmode == "stack":
        for n, bars in enumerate(b for b in figure.data if b.type == "bar"):
            bars.marker.pattern = {"shape": PATTERNS[n % len(PATTERNS)], "size": 7, "solidity": 0.2, "fgopacity": 0.6}
    axis: dict[str, object] = {"gridcolor": GRID, "zeroline": False, "automargin": True}
    if st.context.theme.type == "light":
        axis |= {"tickfont": {"color": ON_LIGHT}, "title": {"font": {"color": ON_LIGHT}}}
    figure.update_xaxes(axis)
    figure.update_yaxes(axis)
    return figure


def card(title: str, says: str, figure: go.Figure, *, key: str, table: Callable[[], None] | None = None) -> None:
    """A chart in a bordered card: what it shows with its unit, one grey line, the chart, the numbers behind it."""
    with panel(title, says):
        st.plotly_chart(figure, key=key, config={"displayModeBar": False, "scrollZoom": False, "typesetMath": False})
        if table is not None:
            with st.expander("Table", type="compact"):
                table()


def by_source(counts: Mapping[str, int], unit: str) -> go.Figure:
    """One horizontal bar per source, amounts from zero."""
    names = [s for s in SOURCE_COLOURS if s in counts] + [s for s in counts if s not in SOURCE_COLOURS]
    figure = go.Figure(
        go.Bar(
            x=[counts[n] for n in names],
            y=names,
            orientation="h",
            marker={"color": [colour(n) for n in names]},
            text=[f"{counts[n]:,}" for n in names],
            textposition="outside",
            textfont={"color": ON_LIGHT} if st.context.theme.type == "light" else None,
            cliponaxis=False,
            hovertemplate="%{y}: %{x:,} " + unit + "<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", showgrid=False)
    room = max([*counts.values(), 1]) * 1.2  # for the numbers beside the bars
    figure.update_xaxes(range=[0, room], showticklabels=False, showgrid=False)
    return calm(figure, 32 * max(1, len(names)) + 30, legend=False)


def source_table(counts: Mapping[str, int], label: str, key: str) -> None:
    """The numbers of `by_source`; `label` heads the amounts."""
    rows = [{"source": name, "amount": amount} for name, amount in counts.items()]
    columns = (tables.Column("source", "Source"), tables.Column("amount", label, "count"))
    tables.show(rows, columns, key=key, zone="UTC", height="content")


def by_day(days: Sequence[tuple[str, str, int]], unit: str) -> go.Figure:
    """Stacked bars per local day and source from (day, source, number); every day from the first to the last has its
    place, and a day without rows stays empty. Days are category texts, so no browser shifts them."""
    axis = _every_day([day for day, _, _ in days])
    figure = go.Figure()
    for source in [s for s in SOURCE_COLOURS if any(x == s for _, x, _ in days)]:
        amounts = {day: number for day, name, number in days if name == source}
        figure.add_bar(
            x=axis,
            y=[amounts.get(day, 0) for day in axis],
            name=source,
            marker={"color": colour(source)},
            hovertemplate="%{x}<br>" + source + ": %{y:,} " + unit + "<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    shown = axis[:: max(1, -(-len(axis) // 5))]
    labels = [f"{date.fromisoformat(day):%-d %b}" for day in shown]
    figure.update_xaxes(type="category", tickvals=shown, ticktext=labels, tickangle=0, showgrid=False)
    figure.update_yaxes(rangemode="tozero")
    return calm(figure, 240)


def _every_day(days: Sequence[str]) -> list[str]:
    if not days:
        return []
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    return [(first + timedelta(n)).isoformat() for n in range((last - first).days + 1)]
