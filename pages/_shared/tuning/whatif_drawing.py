"""How many prompts a step of each boost changes, by the length of the step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from core.memory.retrieval import Unit
from core.tuning.consequences import Distances
from pages._shared.charts import calm, colour

REACH: dict[Unit, float] = {"raw": 0.2, "sd": 3.0}
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


def changed_by_distance(points: Mapping[str, Distances], unit: Unit) -> go.Figure:
    """One line a source: steps down on the left, up on the right; a step in the line is a prompt that changes."""
    figure = go.Figure()
    steps = np.linspace(-REACH[unit], REACH[unit], 201)
    for n, (source, one) in enumerate(points.items()):
        if not len(one.up) and not len(one.down):
            continue
        figure.add_scatter(
            x=steps,
            y=[one.changed(float(step)) for step in steps],
            mode="lines",
            line={"shape": "hv", "width": 2, "color": colour(source), "dash": DASHES[n % len(DASHES)]},
            name=source,
            hovertemplate=f"{source} %{{x:+.3f}}: %{{y}} of {one.cases}<extra></extra>",
        )
    figure.update_xaxes(title="step of the boost" + (" (SD)" if unit == "sd" else ""), tickformat="+.2f")
    figure.update_yaxes(title="prompts", rangemode="tozero")
    figure = calm(figure, 320)
    figure.update_layout(legend={"y": -0.32})
    return figure
