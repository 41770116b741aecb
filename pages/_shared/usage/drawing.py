"""The charts of usage: amounts over time, stacked; a request's calls one after the other. Days are texts, so that no
browser shifts them; every bucket up to now has its place, and one without a row is a zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import plotly.graph_objects as go

from core.usage.lines import Call
from pages._shared.charts import LINE, calm
from pages._shared.usage.words import cost, in_chart

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A")
MOST = len(COLOURS) - 1
OTHERS = "all others"

Series = Mapping[str, Mapping[str, int | Decimal]]


def largest(series: Series) -> dict[str, dict[str, int | Decimal]]:
    """The series with the largest sums, largest first; the rest as one, so that every colour is told apart."""
    ranked = sorted(series, key=lambda name: (-sum(series[name].values()), name))
    kept: dict[str, dict[str, int | Decimal]] = {name: dict(series[name]) for name in ranked[:MOST]}
    for name in ranked[MOST:]:
        others = kept.setdefault(OTHERS, {})
        for bucket, amount in series[name].items():
            others[bucket] = others.get(bucket, 0) + amount
    return kept


def over_time(buckets: Sequence[str], series: Series, unit: str, limit: Decimal | int | None = None) -> go.Figure:
    """Stacked bars per bucket; with `limit` a dashed line of the budget."""
    figure = go.Figure()
    money = unit == "USD"
    for position, (name, amounts) in enumerate(largest(series).items()):
        figure.add_bar(
            x=list(buckets),
            y=[float(amounts.get(bucket, 0)) for bucket in buckets],
            name=in_chart(name),
            marker={"color": COLOURS[position]},
            hovertemplate="%{x}<br>"
            + in_chart(name)
            + ": %{y:"
            + (",.6~g" if money else ",")
            + "} "
            + unit
            + "<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=list(buckets), showgrid=False)
    shown = list(buckets[:: max(1, -(-len(buckets) // 6))])
    figure.update_xaxes(tickvals=shown, ticktext=[_short(b, len(buckets)) for b in shown], tickangle=0)
    figure.update_yaxes(rangemode="tozero", tickprefix="$" if money else "")
    if limit is not None:
        figure.add_hline(
            y=float(limit),
            line={"dash": "dash", "width": 1.5, "color": LINE},
            annotation={"text": "budget", "font": {"color": LINE, "size": 11}},
            annotation_position="top left",
        )
    return calm(figure, 320)


def waterfall(calls: Sequence[Call]) -> go.Figure:
    """A request's calls from top to bottom, each beginning where the one before ended: prompt, completion, the rest."""
    figure = go.Figure()
    names = [f"{n}. {in_chart(call.phase)}" for n, call in enumerate(calls, start=1)]
    ends: list[int] = []
    for call in calls:
        ends.append((ends[-1] if ends else 0) + _width(call))
    starts = [end - _width(call) for end, call in zip(ends, calls, strict=True)]
    first = calls[0].at if calls else None
    hover = [
        f"{in_chart(c.provider)} {in_chart(c.model)}, {(c.at - (first or c.at)).total_seconds():.1f} s after the first"
        f"<br>{c.tokens.prompt:,} prompt, {c.tokens.completion:,} completion, {c.tokens.unattributed:,} not attributed"
        f"<br>{c.tokens.cached:,} cached, cost {cost(c.cost)}"
        for c in calls
    ]
    parts = (
        ("prompt", [c.tokens.prompt for c in calls], starts),
        (
            "completion",
            [c.tokens.completion for c in calls],
            [s + c.tokens.prompt for s, c in zip(starts, calls, strict=True)],
        ),
        (
            "not attributed",
            [c.tokens.unattributed for c in calls],
            [e - c.tokens.unattributed for e, c in zip(ends, calls, strict=True)],
        ),
    )
    for position, (name, widths, bases) in enumerate(parts):
        figure.add_bar(
            x=widths,
            base=bases,
            y=names,
            orientation="h",
            name=name,
            marker={"color": COLOURS[position]},
            hovertext=hover,
            hoverinfo="text",
        )
    figure.update_layout(barmode="overlay")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(rangemode="tozero", title="tokens, added up over the request")
    figure = calm(figure, 26 * max(1, len(calls)) + 120)
    figure.update_layout(legend={"y": -75 / (26 * max(1, len(calls)) + 40)})
    return figure


def _width(call: Call) -> int:
    return call.tokens.prompt + call.tokens.completion + call.tokens.unattributed


def _short(bucket: str, number: int) -> str:
    return bucket[11:] if len(bucket) > 10 and number <= 30 else bucket[5:10]
