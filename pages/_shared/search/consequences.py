"""What the boosts do to the prompt: places by source, flip points, the nearest change on both sides of each slider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.memory import whatif
from core.memory.sources import SOURCES
from pages._shared import charts, formats, tables
from pages._shared.layout import panel
from pages._shared.resources import settings
from pages._shared.search import drawing
from pages._shared.search.sliders import HIGH, LOW
from pages._shared.search.view import View
from pages._shared.tables import Column

COLUMNS = (
    Column("source", "Source", pinned=True, width=95),
    Column("boost", "Boost", "signed", help="Added to each cosine of the source."),
    Column("sd", "In SD", "signed", help="The boost in standard deviations of this query's cosines over the dialog."),
    Column("slots", "Places", "count", help="Chunks of the source in the prompt."),
    Column("up", "Change at", "signed", help="The nearest boost above at which the prompt's set changes."),
    Column("up_by", "by", "signed"),
    Column("up_in", "enters", width="medium"),
    Column("up_out", "leaves", width="medium"),
    Column("down", "Change at or below", "signed", help="The nearest boost below at which the prompt's set changes."),
    Column("down_by", "by", "signed"),
    Column("down_in", "enters ", width="medium"),
    Column("down_out", "leaves ", width="medium"),
)


def show(view: View) -> None:
    """Slots, flip points and a warning where one source leaves no place for the others."""
    candidates, k = view.found.candidates, view.limit
    now, before = whatif.slots(view.ranking, k), whatif.slots(view.active, k)
    present: list[str] = [s for s in SOURCES if candidates.mask(s).any()]
    points = {s: whatif.flip_points(candidates, view.weights, s, k) for s in present}
    active: dict[str, float] = {s: float(view.found.active_weights.get(s, 0.0)) for s in present}
    alone = next((s for s, taken in now.items() if taken and taken == min(k, len(candidates))), None)
    if alone and len(present) > 1:
        st.warning(f"Chunks of one source, {alone}, take every place: nothing else of this dialog reaches the prompt.")
    left, right = st.columns((1, 2))
    with left:
        charts.card(
            f"Places in the prompt (of {k})",
            "By source, with the sliders as they stand and with the active weights.",
            drawing.slots(now, before, k),
            key="slots",
        )
    with right:
        charts.card(
            "Flip points (boost)",
            "A tick: at this boost one chunk enters and another leaves. Dot: the slider; ring: the active weight.",
            drawing.flips({s: [f.boost for f in points[s].flips] for s in present}, view.weights, active, LOW, HIGH),
            key="flips",
        )
    deviations = whatif.boost_in_sd(candidates, view.weights)
    rows = [_row(view, points[s], deviations[s], now[s]) for s in present]
    says = "The nearest boost on each side at which the prompt's set changes, and who is exchanged, all else held."
    with panel("First change of each source", says):
        tables.show(rows, COLUMNS, key="boosts", zone=settings().time_zone, height="content")
        tables.downloads(rows, [c.field for c in COLUMNS], name="boosts", key="boosts-file")


def _row(view: View, points: whatif.FlipPoints, sd: float | None, slots: int) -> dict[str, Any]:
    up = points.up[0] if points.up else None
    down = points.down[0] if points.down else None
    return {
        "source": points.source,
        "boost": points.boost,
        "sd": sd,
        "slots": slots,
        **(_flip("up", up, up.enters, up.leaves, view) if up else {}),
        # Going down a flip is undone: who entered by it leaves.
        **(_flip("down", down, down.leaves, down.enters, view) if down else {}),
    }


def _flip(side: str, flip: whatif.Flip, enters: str, leaves: str, view: View) -> Mapping[str, Any]:
    return {
        side: flip.boost,
        f"{side}_by": flip.delta,
        f"{side}_in": label(view, enters),
        f"{side}_out": label(view, leaves),
    }


def label(view: View, chunk_id: str) -> str:
    """A chunk in a few words: its place, its source, how it begins."""
    hit = view.hit(view.found.candidates.positions[chunk_id])
    return f"{hit.rank}. {hit.source}: {formats.snippet(hit.text, 48)}"
