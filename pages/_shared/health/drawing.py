"""The past of the checks as charts: states as steps with gaps where nobody looked, latency as lines. Pure.

Moments are drawn as local texts without a zone, so that no browser shifts them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import plotly.graph_objects as go

from core.health.timeline import History, Latency
from pages._shared.charts import calm

STATUS_COLOURS = {"ok": "#2E8B57", "degraded": "#E69F00", "down": "#D62728", "unknown": "#9E9E9E"}
PATTERNS = {"ok": "", "degraded": "/", "down": "x", "unknown": "."}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x")
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
ROW_PX = 24
FEW: Mapping[str, int] = {"nticks": 5, "tickangle": 0}  # dates stand side by side on a narrow screen too


def states(history: History, labels: Mapping[str, str], zone: ZoneInfo) -> go.Figure:
    """One row per component, one bar per run of a state; where there is no bar, nobody looked."""
    figure = go.Figure()
    for status, tint in STATUS_COLOURS.items():
        runs = [s for s in history.segments if s.status == status and s.component in labels]
        if not runs:
            continue
        figure.add_bar(
            y=[labels[s.component] for s in runs],
            base=[local(s.starts, zone) for s in runs],
            x=[(s.ends - s.starts).total_seconds() * 1000 for s in runs],
            orientation="h",
            name=status,
            marker={"color": tint, "line": {"width": 0}, "pattern": {"shape": PATTERNS[status], "size": 6}},
            customdata=[[local(s.starts, zone)[:16], local(s.ends, zone)[:16], s.code or s.status] for s in runs],
            hovertemplate="%{y}: "
            + status
            + "<br>%{customdata[0]} to %{customdata[1]}<br>%{customdata[2]}<extra></extra>",
        )
    figure.update_layout(barmode="overlay")
    order = list(dict.fromkeys(labels.values()))
    figure.update_yaxes(categoryorder="array", categoryarray=order[::-1], showgrid=False)
    figure.update_xaxes(type="date", range=[local(history.since, zone), local(history.until, zone)], **FEW)
    return calm(figure, ROW_PX * max(3, len(order)) + 80)


def latency(history: History, labels: Mapping[str, str], zone: ZoneInfo) -> go.Figure:
    """Mean of each bucket, in milliseconds from zero; a line ends where a bucket is missing."""
    figure = go.Figure()
    for tint, symbol, name in zip(LINES, SYMBOLS, labels, strict=False):
        points = [p for p in history.latency if p.component == name]
        at, mean, most = with_gaps(points, history.bucket_s)
        figure.add_scatter(
            x=[local(moment, zone) for moment in at],
            y=mean,
            name=labels[name],
            mode="lines+markers",
            marker={"size": 5, "symbol": symbol},
            line={"color": tint, "width": 1.5},
            connectgaps=False,
            customdata=most,
            hovertemplate="%{x|%Y-%m-%d %H:%M}<br>mean %{y:,.0f} ms, longest %{customdata:,.0f} ms<extra></extra>",
        )
    figure.update_xaxes(type="date", range=[local(history.since, zone), local(history.until, zone)], **FEW)
    figure.update_yaxes(rangemode="tozero", title="ms")
    calm(figure, 280)
    figure.update_layout(legend={"y": -0.28})  # below the second line of the dates
    return figure


def with_gaps(
    points: Sequence[Latency], bucket_s: int
) -> tuple[list[datetime], list[float | None], list[float | None]]:
    """Moments, means and longest, with a None where more than one bucket lies between two points."""
    at: list[datetime] = []
    mean: list[float | None] = []
    most: list[float | None] = []
    for point in points:
        if at and point.at - at[-1] > timedelta(seconds=bucket_s * 2):
            at.append(at[-1] + timedelta(seconds=bucket_s))
            mean.append(None)
            most.append(None)
        at.append(point.at)
        mean.append(point.mean)
        most.append(point.most)
    return at, mean, most


def local(at: datetime, zone: ZoneInfo) -> str:
    return at.astimezone(zone).replace(tzinfo=None).isoformat(timespec="seconds")
