"""The charts of a search: cosine + boost per place, the cut line, the slots of the prompt, the flip points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from pages._shared.charts import LINE, SOURCE_COLOURS, calm, colour, lighter, line_text

BAR = 22


@dataclass(frozen=True)
class Bar:
    """One chunk's place: its parts, and where it stood with the active weights (None: not in the list)."""

    rank: int
    source: str
    cosine: float
    boost: float
    before: int
    lexical: float = 0.0

    @property
    def words(self) -> float:
        """Where the part of the words ends."""
        return self.cosine + self.lexical

    @property
    def score(self) -> float:
        return self.words + self.boost


def scores(bars: Sequence[Bar], limit: int, *, from_zero: bool = True) -> go.Figure:
    """Horizontal bars, best on top: cosine in the source's colour, boost lighter on top of it (hatched where it takes
    away); the dashed line is the prompt's limit."""
    figure = go.Figure()
    places = [str(bar.rank) for bar in bars]
    for source in [s for s in SOURCE_COLOURS if any(b.source == s for b in bars)]:
        mine = [b for b in bars if b.source == source]
        shared = {"y": [str(b.rank) for b in mine], "orientation": "h", "legendgroup": source, "width": 0.72}
        hover = [
            f"{b.rank}. {source}<br>score {b.score:.3f} = cosine {b.cosine:.3f} "
            f"{f'{b.lexical:+.3f} words ' if b.lexical else ''}{b.boost:+.3f}"
            f"<br>with the active profile: place {b.before}"
            for b in mine
        ]
        figure.add_bar(
            x=[min(b.cosine, b.words, b.score) for b in mine],
            name=source,
            marker={"color": colour(source)},
            hovertext=hover,
            hoverinfo="text",
            **shared,
        )
        if any(b.lexical for b in mine):
            figure.add_bar(
                x=[abs(b.lexical) for b in mine],
                base=[min(b.cosine, b.words) for b in mine],
                name=f"{source} words",
                marker={"color": LINE, "pattern": {"shape": ["" if b.lexical >= 0 else "/" for b in mine]}},
                hovertext=hover,
                hoverinfo="text",
                showlegend=False,
                **shared,
            )
        figure.add_bar(
            x=[abs(b.boost) for b in mine],
            base=[min(b.words, b.score) for b in mine],
            name=f"{source} boost",
            marker={"color": lighter(source), "pattern": {"shape": ["" if b.boost >= 0 else "/" for b in mine]}},
            hovertext=hover,
            hoverinfo="text",
            showlegend=any(b.boost for b in mine),
            **shared,
        )
    figure.update_layout(barmode="overlay")
    figure.update_yaxes(
        categoryorder="array", categoryarray=places[::-1], type="category", showgrid=False, title="place"
    )
    figure.update_xaxes(title="score = cosine + boost", tickformat=".2f")
    if not from_zero and bars:
        ends = [end for b in bars for end in (b.cosine, b.words, b.score)]
        low, high = min(ends), max(ends)
        room = max(high - low, 0.02) * 0.08
        figure.update_xaxes(range=[low - room, high + room])
    if len(bars) > limit:
        figure.add_hline(
            y=len(bars) - limit - 0.5,
            line={"dash": "dash", "width": 1.5, "color": LINE},
            annotation={"text": f"limit {limit}", "font": {"color": line_text(), "size": 11}},
            annotation_position="top right",
        )
    figure = calm(figure, BAR * len(bars) + 110)
    figure.update_layout(legend={"y": -70 / (BAR * len(bars) + 40)})
    return figure


def slots(now: Mapping[str, int], before: Mapping[str, int], limit: int) -> go.Figure:
    """How many of the prompt's places each source takes, with these weights and with the active ones."""
    figure = go.Figure()
    for source in [s for s in SOURCE_COLOURS if now.get(s) or before.get(s)]:
        figure.add_bar(
            x=[now.get(source, 0), before.get(source, 0)],
            y=["now", "active"],
            orientation="h",
            name=source,
            marker={"color": colour(source)},
            text=[now.get(source) or "", before.get(source) or ""],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate=f"{source}: %{{x}} of {limit}<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, limit], dtick=max(1, limit // 6), title="places")
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure = calm(figure, 170)
    figure.update_layout(legend={"y": -0.55, "traceorder": "normal"})
    return figure


def flips(
    points: Mapping[str, Sequence[float]],
    now: Mapping[str, float],
    active: Mapping[str, float],
    low: float,
    high: float,
) -> go.Figure:
    """One strip per source: a tick at every boost where the prompt's set changes, a dot where the slider stands, a ring
    at the active weight."""
    names = list(points)
    figure = go.Figure()
    for name in names:
        inside = [b for b in points[name] if low <= b <= high]
        figure.add_scatter(
            x=inside,
            y=[name] * len(inside),
            mode="markers",
            marker={"symbol": "line-ns", "size": 15, "line": {"width": 1.5, "color": colour(name)}},
            hovertemplate=f"{name}: the set changes at %{{x:+.3f}}<extra></extra>",
            showlegend=False,
        )
    for label, values, symbol in (("active weight", active, "circle-open"), ("slider", now, "circle")):
        figure.add_scatter(
            x=[values.get(name, 0.0) for name in names],
            y=names,
            mode="markers",
            name=label,
            marker={"symbol": symbol, "size": 10, "color": [colour(n) for n in names], "line": {"width": 2}},
            hovertemplate="%{y}: %{x:+.3f}<extra>" + label + "</extra>",
        )
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], type="category")
    figure.update_xaxes(range=[low, high], tickformat="+.2f", title="boost added to the source's cosines")
    figure = calm(figure, 34 * len(names) + 100)
    figure.update_layout(legend={"y": -65 / (34 * len(names) + 30)})
    return figure
