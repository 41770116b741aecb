"""Correlations: pairs of daily figures that move together, with every day as a point."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from core.companion.reflect.correlations import Correlation, Scatter
from pages._shared import charts, formats, tables
from pages._shared.companion import mind
from pages._shared.feedback import boundary, empty
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

ACROSS = 2
POINT = "#0072B2"
COLUMNS = (Column("day", "Day", "day"), Column("a", "A", "amount"), Column("b", "B", "amount"))


def show(found: Sequence[Correlation]) -> None:
    """Strongest first, two in a row."""
    if not found:
        empty(
            "No two figures move together",
            "Once a day, at 03:30, the daily figures of the last 60 days are compared in pairs. A pair is kept from "
            "14 days and 20 events on, where |r| is 0.3 or more and chance is an unlikely cause (p under 0.05, held "
            "against all pairs). There is too little yet, or nothing in it.",
        )
        return
    st.caption(
        "Pearson's r over days up to yesterday; a day without anything counts as 0. p: how often chance alone would "
        "give as much. Moving together does not say that one causes the other."
    )
    for start in range(0, len(found), ACROSS):
        for cell, one in zip(st.columns(ACROSS), found[start : start + ACROSS], strict=False):
            with cell, boundary("The correlation"):
                _card(one, start)


def _card(found: Correlation, start: int) -> None:
    days = mind.scatter(found)
    says = (
        f"{found.sentence} r {found.coefficient:+.2f}, p {p_words(found.p_value)}, {found.sample_size} days. "
        f"Computed {formats.moment(found.computed_at, my_zone())[:16]}."
    )
    a, b = found.factor_a, found.factor_b
    title = f"{a.label} and {b.label}"
    if days is None:
        with charts.panel(title, says):
            st.text("One of the two figures is no more: there are no points to draw.")
        return
    rows = [{"day": day, "a": f"{x:g}", "b": f"{y:g}"} for day, x, y in zip(days.days, days.a, days.b, strict=True)]
    names = {"a": a.label, "b": b.label}

    def table() -> None:
        columns = tuple(Column(c.field, names.get(c.field, c.label), c.kind) for c in COLUMNS)
        tables.show(rows, columns, key=f"pair-{found.id}", zone=my_zone_name())
        tables.downloads(rows, ["day", "a", "b"], name="correlation", key=f"pair-file-{found.id}")

    charts.card(title, says, drawn(days, a.label, b.label), key=f"scatter-{found.id}", table=table)


def p_words(p: float) -> str:
    return "under 0.001" if p < 0.001 else f"{p:.3f}"


def drawn(days: Scatter, a: str, b: str) -> go.Figure:
    """One point a day; the day and both values on hover."""
    figure = go.Figure(
        go.Scatter(
            x=list(days.a),
            y=list(days.b),
            mode="markers",
            marker={"size": 8, "color": POINT, "opacity": 0.65},
            customdata=[day.isoformat() for day in days.days],
            hovertemplate=f"%{{customdata}}<br>{a}: %{{x}}<br>{b}: %{{y}}<extra></extra>",
        )
    )
    figure.update_xaxes(title=a, rangemode="tozero")
    figure.update_yaxes(title=b, rangemode="tozero")
    return charts.calm(figure, 260, legend=False)
