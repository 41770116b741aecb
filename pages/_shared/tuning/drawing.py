"""The charts of evaluations: differences with intervals, slots by source, a map over two boosts. Never colour alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from core.tuning.fit import Heat
from pages._shared.charts import LINE, SOURCE_COLOURS, calm, colour

BLUE = "#0072B2"
SCALE = [[0.0, "#F3F6FA"], [0.5, "#9CC3E4"], [1.0, "#0B5E9B"]]
SCALE_DARK = [[0.0, "#17222E"], [0.5, "#2F6C9C"], [1.0, "#8CC7F2"]]


def differences(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> go.Figure:
    """A dot with its interval per group, in points; a square where the interval contains 0."""
    known = [(name, row) for name, row in rows if row["difference"] is not None]
    middle = [100 * row["difference"] for _, row in known]
    figure = go.Figure()
    for clear, symbol, label in (
        (True, "circle", "interval excludes 0"),
        (False, "square-open", "interval contains 0"),
    ):
        mine = [n for n, (_, row) in enumerate(known) if (row["low"] > 0 or row["high"] < 0) == clear]
        figure.add_scatter(
            x=[middle[n] for n in mine],
            y=[_label(*known[n]) for n in mine],
            mode="markers",
            name=label,
            marker={"symbol": symbol, "size": 11, "color": BLUE, "line": {"width": 2, "color": BLUE}},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [100 * known[n][1]["high"] - middle[n] for n in mine],
                "arrayminus": [middle[n] - 100 * known[n][1]["low"] for n in mine],
                "color": BLUE,
                "thickness": 1.5,
            },
            hovertemplate="%{y}: %{x:+.1f} points<extra></extra>",
        )
    figure.add_vline(x=0, line={"width": 1.5, "dash": "dash", "color": LINE})
    names = [_label(*one) for one in known]
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=names[::-1], showgrid=False)
    figure.update_xaxes(title="points", ticksuffix="", zeroline=False)
    figure = calm(figure, 38 * max(1, len(known)) + 110)
    figure.update_layout(legend={"y": -70 / (38 * max(1, len(known)) + 40)})
    return figure


def _label(name: str, row: Mapping[str, Any]) -> str:
    return f"{_plain(name)} ({row['queries']})"


def _plain(name: str) -> str:
    """Plotly reads a little HTML in labels; a category is somebody's word."""
    return name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def slots(taken: Mapping[str, Mapping[str, float]], k: int) -> go.Figure:
    """Mean places of each source, the profile above the baseline; the numbers stand in the bars."""
    names = list(taken)
    figure = go.Figure()
    for source in [s for s in SOURCE_COLOURS if any(by.get(s) for by in taken.values())]:
        values = [taken[name].get(source, 0.0) for name in names]
        figure.add_bar(
            x=values,
            y=names,
            orientation="h",
            name=source,
            marker={"color": colour(source)},
            text=[f"{v:.1f}" if v >= 0.05 * k else "" for v in values],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate=f"{source}: %{{x:.2f}} of {k}<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, k], title="places")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure = calm(figure, 190)
    figure.update_layout(legend={"y": -0.5, "traceorder": "normal"})
    return figure


def heat(found: Heat, label: str, here: tuple[float, float]) -> go.Figure:
    """A metric over two axes: dots mark what cannot be told from the best, a star the best, a ring the baseline."""
    light = st.context.theme.type == "light"
    figure = go.Figure(
        go.Heatmap(
            x=[f"{v:+.3g}" for v in found.xs],
            y=[f"{v:+.3g}" for v in found.ys],
            z=found.values,
            customdata=found.coverage,
            colorscale=SCALE if light else SCALE_DARK,
            colorbar={"title": {"text": label}, "thickness": 12, "tickformat": ".2f"},
            hovertemplate=f"{found.x} %{{x}}, {found.y} %{{y}}<br>{label} %{{z:.3f}}, judged %{{customdata:.0%}}"
            "<extra></extra>",
        )
    )
    rows, columns = np.nonzero(found.flat)
    best_row, best_column = found.best
    ink = "#1A1A1A" if light else "#FFFFFF"
    marks = (
        ("as good as the best", columns, rows, {"symbol": "circle", "size": 5, "color": LINE}),
        (
            "best",
            [best_column],
            [best_row],
            {"symbol": "star", "size": 15, "color": LINE, "line": {"width": 1, "color": ink}},
        ),
        (
            "the baseline",
            [found.xs.index(here[0])],
            [found.ys.index(here[1])],
            {"symbol": "circle-open", "size": 16, "color": ink, "line": {"width": 2.5}},
        ),
    )
    for name, xs, ys, marker in marks:
        figure.add_scatter(
            x=[f"{found.xs[int(i)]:+.3g}" for i in xs],
            y=[f"{found.ys[int(i)]:+.3g}" for i in ys],
            mode="markers",
            name=name,
            marker=marker,
            hoverinfo="skip",
        )
    figure.update_xaxes(type="category", title=found.x, showgrid=False, nticks=12)
    figure.update_yaxes(type="category", title=found.y, showgrid=False, nticks=12)
    figure = calm(figure, 460)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    figure.update_layout(legend={"y": -0.16})
    return figure
