"""What the boosts do to the prompt: places by source, flip points, the nearest change on both sides of each slider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.memory import whatif
from core.memory.sources import SOURCES
from pages._shared import charts, formats, tables
from pages._shared.layout import panel
from pages._shared.search import drawing
from pages._shared.search.sliders import SCALES, in_unit
from pages._shared.search.view import View, active_of
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("source", "Source", pinned=True, width=100),
    Column("boost", "Boost", "signed", width=70, help="Added to each cosine of the source."),
    Column("sd", "In SD", "signed", width=75, help="In standard deviations of this query's cosines over the dialog."),
    Column("slots", "Places", "count", width=60, help="Chunks of the source in the prompt."),
    Column("side", "Moving", width=65),
    Column("at", "changes at", "signed", width=85),
    Column("by", "that is by", "signed", width=75),
    Column("enters", "Enters", width=260),
    Column("leaves", "Leaves", width=260),
)
SLOTS = (
    Column("source", "Source"),
    Column("now", "With the sliders", "count"),
    Column("before", "With the active profile", "count"),
)
TICKS = (Column("source", "Source"), Column("boost", "Boost", "signed"))


def places(view: View) -> None:
    """Which source takes how many places; a warning where one leaves none for the others."""
    candidates, k = view.found.candidates, view.limit
    now, before = whatif.slots(view.ranking, k), whatif.slots(view.active, view.active_limit)
    charts.card(
        f"Places in the prompt (of {k})",
        "By source, with the sliders as they stand and with the active profile.",
        drawing.slots(now, before, k),
        key="slots",
        table=partial(_slots, now, before),
    )
    alone = next((s for s, taken in now.items() if taken and taken == min(k, len(candidates))), None)
    if alone and len(_present(view)) > 1:
        st.warning(f"Chunks of one source, {alone}, take every place: nothing else of this dialog reaches the prompt.")


def show(view: View) -> None:
    """Every flip point of every source, and the nearest one on each side in words."""
    unit, sd = view.profile.unit, view.field.sd
    scale = SCALES[unit]
    points = {s: _points(view, s) for s in _present(view)}
    active = {s: boost for s, boost in in_unit(active_of(view.found), unit, sd).items() if s in points}
    charts.card(
        f"Flip points (boost{', SD' if unit == 'sd' else ''})",
        "A tick: at this boost one chunk enters the prompt, another leaves. Dot: the slider; ring: the active weight.",
        drawing.flips(
            {s: [f.boost for f in points[s].flips] for s in points}, view.weights, active, scale.low, scale.high
        ),
        key="flips",
        table=partial(_flips, points),
    )
    deviations, slots = in_unit(view.profile, "sd", sd), whatif.slots(view.ranking, view.limit)
    rows = [
        {"source": s, "boost": points[s].boost, "sd": deviations[s], "slots": slots[s], **change}
        for s in points
        for change in changes(view, points[s])
    ]
    says = "The nearest boost on each side at which the prompt's set changes, and who is exchanged, all else held."
    if view.profile.budget_chars is not None:
        says += " The budget is left out here: it has no closed form."
    with panel("First change of each source", says):
        tables.show(rows, COLUMNS, key="boosts", zone=my_zone_name(), height="content")
        tables.downloads(rows, [c.field for c in COLUMNS], name="boosts", key="boosts-file")


def _slots(now: Mapping[str, int], before: Mapping[str, int]) -> None:
    rows = [{"source": s, "now": now.get(s, 0), "before": before.get(s, 0)} for s in dict.fromkeys([*now, *before])]
    tables.show(rows, SLOTS, key="slots-rows", zone=my_zone_name(), height="content")


def _flips(points: Mapping[str, whatif.FlipPoints]) -> None:
    rows = [{"source": s, "boost": flip.boost} for s, found in points.items() for flip in found.flips]
    tables.show(rows, TICKS, key="flips-rows", zone=my_zone_name())


def _points(view: View, source: str) -> whatif.FlipPoints:
    """The flip points of a source, in the unit of the sliders."""
    k = view.found.request.limit
    found = whatif.flip_points(view.field.candidates, view.field.weights, source, k)
    scale = view.field.sd if view.profile.unit == "sd" else 1.0
    flips = tuple(replace(f, boost=f.boost / scale, delta=f.delta / scale) for f in found.flips)
    return replace(found, boost=found.boost / scale, flips=flips)


def changes(view: View, points: whatif.FlipPoints) -> list[dict[str, Any]]:
    """The nearest change upwards and downwards; going down a flip is undone: who entered by it leaves."""
    found = []
    if points.up:
        flip = points.up[0]
        found.append(_change("up", flip, label(view, flip.enters), label(view, flip.leaves)))
    if points.down:
        flip = points.down[0]
        found.append(_change("down", flip, label(view, flip.leaves), label(view, flip.enters)))
    return found or [{"side": "never", "enters": "No boost of this source changes the prompt's set."}]


def _change(side: str, flip: whatif.Flip, enters: str, leaves: str) -> dict[str, Any]:
    return {"side": side, "at": flip.boost, "by": flip.delta, "enters": enters, "leaves": leaves}


def _present(view: View) -> list[str]:
    return [s for s in SOURCES if view.found.candidates.mask(s).any()]


def label(view: View, chunk_id: str) -> str:
    """A chunk in a few words: its place, its source, how it begins."""
    hit = view.hit(view.found.candidates.positions[chunk_id])
    return f"{hit.rank}. {hit.source}: {formats.snippet(hit.text, 48)}"
