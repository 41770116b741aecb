"""Better boosts: a map over two of them with its flat region, and a search with dialogs kept out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from core.jobs.job import Job
from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from core.tuning.boost_search import KIND, fit_of
from core.tuning.evaluation import LABELS
from core.tuning.fit import FUSION, Fit, Heat, at
from core.tuning.plan import Plan
from core.tuning.resample import Interval
from pages._shared import charts, formats, session, tables
from pages._shared.feedback import boundary
from pages._shared.layout import Figure, figures
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.tuning import acting, choices, drawing
from pages._shared.zone import my_zone_name

AXES = (*SOURCES, FUSION)
FORM = "boosts"
FOUND = "boosts.found"
MAP = "boosts.map"


@only("evaluate")
def show(plan: Plan) -> None:
    with st.expander("Look for better boosts", icon=":material/grid_on:", type="compact", key="better"):
        st.caption(
            f"From the baseline, on this query set. Boosts are in {_unit(plan.baseline)}; a character budget is not "
            "followed here. What is found is a candidate: propose it, then evaluate that version."
        )
        _search(plan)
        st.divider()
        _map(plan)


def _unit(profile: Profile) -> str:
    return "standard deviations" if profile.unit == "sd" else "raw cosine"


def _search(plan: Plan) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        axes = st.multiselect(
            "Search over", AXES, default=("note", "conversation", FUSION), key="search-axes", width="stretch"
        )
        st.button("Search", key="search-boosts", on_click=_run, args=(plan, tuple(axes)), disabled=not axes)
    found = _found(plan)
    if found is None:
        return
    figures(
        Figure("On the dialogs searched", _gain(found.train), f"{found.train_queries} queries.", _span(found.train)),
        Figure(
            "On the dialogs kept out",
            _gain(found.held_out),
            f"{found.held_out_queries} queries that the search has not seen.",
            _span(found.held_out) if found.held_out else "one dialog only: nothing to test on",
        ),
        Figure(
            "Overfit",
            "–" if found.overfit is None else f"{100 * found.overfit:+.1f} points",
            "Gain on the dialogs searched minus gain on those kept out. Trust the second figure.",
        ),
        Figure("Points looked at", formats.count(found.tried)),
    )
    axes_now = [axis for axis in AXES if at(found.profile, axis) or at(plan.baseline, axis)]
    rows = [{"axis": axis, "before": at(plan.baseline, axis), "after": at(found.profile, axis)} for axis in axes_now]
    columns = (Column("axis", "Boost"), Column("before", "Baseline", "signed"), Column("after", "Found", "signed"))
    tables.show(rows, columns, key="found-boosts", zone=my_zone_name(), height="content")
    tables.downloads(rows, [c.field for c in columns], name="found-boosts", key="found-boosts-file")
    if found.id is None:
        st.text("Nothing better was found: these are the baseline's boosts.")
        return
    with st.container(horizontal=True):
        kept = (found.profile, found.id)
        st.button("Compare it with the baseline", key="keep-draft", type="primary", on_click=_keep, args=kept)
        st.button("Propose it", key="propose-found", on_click=_propose, args=kept)
    st.caption(
        "Where it came from goes with it: on this set an evaluation of it counts the dialogs kept out alone, and no "
        "other one of this set lets it be approved."
    )


def _run(plan: Plan, axes: tuple[str, ...]) -> None:
    done = outcome.attempt("The search", partial(acting.search_boosts, plan, axes, outcome.form_id(FORM)))
    if done is None:
        return
    outcome.new_form(FORM)
    kept = done.id if isinstance(done, Job) else done
    session.remember(FOUND, (_mark(plan), kept))
    if isinstance(done, Job):
        outcome.say("started", "The search runs as a job; what it finds is shown here once it has ended.")


def _found(plan: Plan) -> Fit | None:
    """What was found last for this set and baseline; a job's answer once it has one."""
    kept = session.remembered(FOUND, None)
    if not kept or kept[0] != _mark(plan):
        return None
    if isinstance(kept[1], Fit):
        return kept[1]
    job = core().jobs.get(kept[1])
    if job.kind == KIND and job.state == "done" and job.result:
        return fit_of(job.result)
    st.text("The search is running." if job.live else "The search has ended without an answer.")
    return None


def _mark(plan: Plan) -> tuple[object, ...]:
    return (plan.query_set, repr(plan.baseline.as_json()), plan.metric, plan.k, plan.llm)


def _propose(profile: Profile, fit: str) -> None:
    drafted = replace(profile, name="found here", version=None)
    choices.keep_draft(drafted, (fit,))
    choices.to_profiles(drafted)


def _keep(profile: Profile, fit: str) -> None:
    choices.keep_draft(replace(profile, name="found here", version=None), (fit,))
    outcome.say("done", "It stands among the profiles of this tab as “found here”: choose it above and evaluate.")


def _gain(found: Interval | None) -> str:
    return "–" if found is None else f"{100 * found.mean:+.1f} points"


def _span(found: Interval | None) -> str | None:
    return None if found is None else f"95 %: {100 * found.low:+.1f} to {100 * found.high:+.1f}"


def _map(plan: Plan) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        x = st.selectbox("Across", AXES, index=0, key="map-x", width=170)
        y = st.selectbox("Up", AXES, index=AXES.index("conversation"), key="map-y", width=170)
        pressed = st.button("Draw the map", key="draw-map", disabled=x == y)
    mark = (*_mark(plan), x, y)
    if pressed:
        bar = st.progress(0.0, "Looking at the queries")

        def told(done: int, total: int) -> None:
            bar.progress(done / total, f"{done} of {total} queries")

        with boundary("The map"):
            session.remember(MAP, (mark, acting.heat(plan, x, y, told)))
        bar.empty()
    kept = session.remembered(MAP, None)
    if not kept or kept[0] != mark:
        return
    found = kept[1]
    name = f"{LABELS[plan.metric]}@{plan.k}"
    row, column = found.best
    flat = int(found.flat.sum())
    says = (
        f"Star: best ({found.values[row, column]:.3f} at {x} {found.xs[column]:+.3g}, {y} {found.ys[row]:+.3g}). "
        f"Dots: {flat} of {found.flat.size} points that cannot be told from it (95 %). Ring: the baseline. "
        "Drawn on all queries: a point read off it is fitted to them, and nothing here tests it."
    )
    charts.card(
        f"{name} over {x} and {y}",
        says,
        drawing.heat(found, name, (at(plan.baseline, x), at(plan.baseline, y))),
        key="boost-map",
        table=partial(_points, found, name),
    )


def _points(found: Heat, name: str) -> None:
    rows = [
        {
            "x": found.xs[column],
            "y": found.ys[row],
            "value": float(found.values[row, column]),
            "coverage": float(found.coverage[row, column]),
            "same": "as good as the best" if found.flat[row, column] else "",
        }
        for row in range(len(found.ys))
        for column in range(len(found.xs))
    ]
    rows.sort(key=lambda point: -float(str(point["value"])))
    columns = (
        Column("x", found.x, "signed"),
        Column("y", found.y, "signed"),
        Column("value", name, "score"),
        Column("coverage", "Judged", "score"),
        Column("same", "Flat region"),
    )
    tables.show(rows, columns, key="map-points", zone=my_zone_name())
    tables.downloads(rows, [c.field for c in columns], name="boost-map", key="map-file")
