"""What another profile would do to the latest prompts: how many change, from which boost on, and whose places."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from core.memory.retrieval import Profile, Unit
from core.memory.sources import SOURCES
from core.services.recent import LIMIT, Recent
from core.tuning.consequences import Distances, Effect, distances, effect
from pages._shared import address, charts, formats, layout, parts, tables
from pages._shared.feedback import boundary, empty
from pages._shared.fragments import fragment
from pages._shared.head import Head
from pages._shared.layout import Figure, panel
from pages._shared.resources import core
from pages._shared.search.sliders import SCALES, WORDS
from pages._shared.tables import Column
from pages._shared.tuning import choices, profile_reading
from pages._shared.tuning.whatif_drawing import changed_by_distance
from pages._shared.tuning.whatif_words import flips, places
from pages._shared.zone import my_zone_name

FLIPS = (
    Column("source", "Source", pinned=True, width=110),
    Column("first_up", "First change, up", "signed", width=120),
    Column("first_down", "First change, down", "signed", width=130),
    Column("small", "Prompts that a small step changes", width=300),
    Column("ever", "That any step changes", "count", width=150),
)
STEPS = (
    Column("source", "Source"),
    Column("step", "Step of the boost", "signed"),
    Column("changed", "Prompts changed", "count"),
)
CHANGES = (
    Column("at", "Searched", "when", pinned=True),
    Column("entered", "Enter", "count", width=70),
    Column("left", "Leave", "count", width=70),
    Column("dialog", "Dialog", width=260),
)


def show(head: Head) -> None:
    found = profile_reading.recent()
    says = (
        f"The latest {LIMIT} recorded searches of one dialog each, compared anew with what is stored today: "
        "each query is embedded once, each dialog asked once. After that nothing is asked any more."
    )
    with panel("The prompts", says):
        if st.button("Load them" if found is None else "Load them again", key="load-recent", icon=":material/history:"):
            with boundary("These searches"):
                bar = st.progress(0.0, "Comparing")
                found = profile_reading.load_recent(lambda done, of: bar.progress(done / max(of, 1), f"{done} of {of}"))
                bar.empty()
        if found is not None:
            st.text(honest(found))
    if found is None:
        return
    head.as_of(found.as_of)
    if not found.cases:
        empty("No recorded search can be compared", "Search first: every search through this product is recorded.")
        return
    explore(found)


def honest(found: Recent) -> str:
    """What the figures are of, and of what they are not."""
    said = [f"{formats.count(len(found.cases))} of {formats.count(found.recorded)} recorded searches, the latest."]
    if found.nothing:
        said.append(
            f"{formats.plural(found.nothing, 'search', 'searches')} left out: nothing of the dialog is searchable now."
        )
    if found.without_words:
        said.append(f"The words of {found.without_words} could not be read: the slider for words leaves them alone.")
    said.append("Replayed on today's chunks, not as recorded.")
    return " ".join(said)


@fragment
def explore(found: Recent) -> None:
    """The sliders and what they do, all in numpy."""
    active = core().search.active_profile()
    left, right = st.columns((1, 2))
    with left:
        profile = _sliders(active)
    result = effect(found.cases, active, profile)
    with right:
        _figures(result)
        with panel("Places by source, mean a prompt"):
            rows = places(result)
            columns = (
                Column("source", "Source"),
                Column("before", "Active", "score"),
                Column("after", "Then", "score"),
            )
            tables.show(rows, columns, key="whatif-places", zone=my_zone_name(), height="content")
    points = distances(found.cases, profile)
    _flips(points, profile)
    _changes(result)


def _sliders(active: Profile) -> Profile:
    with panel("Another profile", f"From version {active.version}, which is in force."):
        chosen = address.segments("Boosts", WORDS, "whatif-unit", default=active.unit)
        unit: Unit = "sd" if chosen == "sd" else "raw"
        scale = SCALES[unit]
        same = unit == active.unit
        weights: dict[str, float] = {
            s: st.slider(
                s,
                scale.low,
                scale.high,
                min(max(float(active.weights.get(s, 0.0)) if same else 0.0, scale.low), scale.high),
                scale.step,
                format=scale.format,
                key=f"whatif_{s}_{unit}",
                bind="query-params",
            )
            for s in SOURCES
        }
        if not same:
            st.caption("A boost in the other unit is another number for each query: the sliders start at none.")
        fusion = st.slider(
            "words (BM25)", 0.0, 2.0, float(active.fusion), 0.05, key="whatif_fusion", bind="query-params"
        )
        keep = st.checkbox(
            "Keep summaries out", active.quotas.get("summary") == 0, key="whatif_summary", bind="query-params"
        )
        quotas = {s: q for s, q in active.quotas.items() if s != "summary"} | ({"summary": 0} if keep else {})
        profile = replace(
            active, name="from what-if", version=None, weights=weights, unit=unit, fusion=fusion, quotas=quotas
        )
        same = profile.as_json() == active.as_json()
        if parts.button(
            "propose_profile",
            "Propose this",
            key="whatif-propose",
            disabled=same,
            on_click=choices.to_profiles,
            args=(profile,),
        ):
            st.rerun()  # the fragment alone would stay in this view
    return profile


def _figures(result: Effect) -> None:
    layout.figures(
        Figure("Prompts that change", f"{result.changed} of {result.cases}"),
        Figure("Chunks exchanged", formats.count(result.exchanged), "Chunks that enter, over all prompts."),
    )


def _flips(points: dict[str, Distances], profile: Profile) -> None:
    rows = [flips(one, profile.unit) for one in points.values()]
    says = "From the sliders as they stand, one boost at a time, all else held; in closed form."
    if profile.budget_chars is not None:
        says += " The budget is left out here."
    charts.card(
        "Prompts that a step changes",
        says,
        changed_by_distance(points, profile.unit),
        key="whatif-steps",
        table=partial(_steps, points),
    )
    with panel("First change of each source", says):
        tables.show(rows, FLIPS, key="whatif-flips", zone=my_zone_name(), height="content")
        tables.downloads(rows, [c.field for c in FLIPS], name="what-if-flips", key="whatif-flips-file")


def _steps(points: dict[str, Distances]) -> None:
    """Where each line of the chart rises: a step, and how many prompts have changed by then."""
    rows = [
        {"source": source, "step": sign * float(step), "changed": number}
        for source, one in points.items()
        for sign, side in ((-1, one.down), (1, one.up))
        for number, step in enumerate(side, start=1)
    ]
    tables.show(rows, STEPS, key="whatif-steps-rows", zone=my_zone_name())


def _changes(result: Effect) -> None:
    if not result.changes:
        return
    rows = [
        {"at": c.at, "entered": c.entered, "left": c.left, "dialog": formats.key(c.dialog_key), "id": c.id}
        for c in result.changes
    ]
    with panel("The prompts that change", "The latest first."):
        tables.show(rows, CHANGES, key="whatif-changes", zone=my_zone_name())
        tables.downloads(rows, ["id", *(c.field for c in CHANGES)], name="what-if-prompts", key="whatif-changes-file")
