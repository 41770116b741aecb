"""One evaluation: the verdict in words, every figure with interval and coverage, who wins where, slots by source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.tuning.evaluation import LABELS, NO_CATEGORY
from core.tuning.evaluations import Evaluation
from pages._shared import charts, formats, tables, veil
from pages._shared.layout import Figure, figures, panel
from pages._shared.literal import literal
from pages._shared.tables import Column
from pages._shared.tuning import drawing, reading
from pages._shared.zone import my_zone, my_zone_name

COLOURS = {"ship": "green", "no evidence": "gray", "worse": "red", "coverage too low": "orange"}
ICONS = {
    "ship": ":material/check_circle:",
    "no evidence": ":material/help:",
    "worse": ":material/cancel:",
    "coverage too low": ":material/visibility_off:",
}
FIGURES = (
    Column("metric", "Figure", pinned=True),
    Column("baseline", "Baseline", "score"),
    Column("profile", "Profile", "score"),
    Column("difference", "Difference", "signed"),
    Column("low", "95 % from", "signed", help="Paired bootstrap over queries, 2,000 resamples, seeded."),
    Column("high", "95 % to", "signed"),
    Column("coverage", "Judged of the profile's top k", "score", help="Share of the places that somebody judged."),
    Column("baseline_coverage", "Judged of the baseline's", "score"),
)
GROUPS = (
    Column("queries", "Queries", "count"),
    Column("baseline", "Baseline", "score"),
    Column("profile", "Profile", "score"),
    Column("difference", "Difference", "signed"),
    Column("low", "95 % from", "signed"),
    Column("high", "95 % to", "signed"),
    Column("wins", "Wins", "count"),
    Column("losses", "Losses", "count"),
    Column("ties", "Ties", "count"),
    Column("coverage", "Judged", "score"),
)
QUERIES = (
    Column("query", "Query", width=340, pinned=True),
    Column("category", "Category", width=110),
    Column("pair", "Dialog", width=150),
    Column("baseline", "Baseline", "score"),
    Column("profile", "Profile", "score"),
    Column("difference", "Difference", "signed"),
    Column("outcome", "Outcome", width=80),
    Column("coverage", "Judged", "score"),
)


def show(one: Evaluation, number: int) -> None:
    """`number` keeps several on one page apart."""
    found = one.result or {}
    before, after = found["profiles"]
    primary = found["primary"]
    name = f"{LABELS[found['metric']]}@{found['k']}"
    with st.container(border=True, gap="xsmall", key=f"verdict-{number}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(one.verdict, color=COLOURS[one.verdict], icon=ICONS[one.verdict])  # type: ignore[arg-type]
            st.markdown(f"{literal(_name(after))} against {literal(_name(before))}")
            if found.get("llm"):
                st.badge("labels of models count", color="orange")
        st.text(one.rule)
        if found.get("fits"):
            left_out = formats.plural(found["seen_queries"], "query is", "queries are")
            st.text(f"On the dialogs kept out alone: {left_out} left out, as one of the profiles was found with them.")
        at = formats.moment(formats.parse(one.created_at), my_zone())
        st.caption(f"{at} · version {one.query_set_version} of the query set · {(one.actor or {}).get('display_name')}")
    tally = found["tally"]
    figures(
        Figure(name, _points(primary["profile"]), f"Baseline: {_points(primary['baseline'])}.", _against(primary)),
        Figure(
            "Judged of the top", f"{one.coverage:.0%}", "The lower of the two profiles; what nobody judged counts 0."
        ),
        Figure(
            "Queries better · worse · level", _three(tally["queries"]), f"{tally['left_out']} have no relevant chunk."
        ),
        Figure("Dialogs better · worse · level", _three(tally["dialogs"])),
    )
    _all_figures(found, before, after, number)
    left, right = st.columns(2)
    with left:
        _categories(found, name, number)
    with right:
        slots = {"profile": after["slots"], "baseline": before["slots"]}
        charts.card(
            f"Places by source (mean of {found['k']})",
            "How many places of the prompt each source takes.",
            drawing.slots(slots, found["k"]),
            key=f"evaluation-slots-{number}",
            table=partial(_slots, slots, number),
        )
    _dialogs(found, number)
    _queries(one, found, number)


def _name(profile: Mapping[str, Any]) -> str:
    version = profile["version"]
    return f"{profile['name']} (version {version})" if version else f"{profile['name']} (not stored)"


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _against(primary: Mapping[str, Any]) -> str:
    if primary["difference"] is None:
        return "no query has a figure"
    low, high = (f"{100 * primary[side]:+.1f}" for side in ("low", "high"))
    return f"{100 * primary['difference']:+.1f} points ({low} to {high})"


def _three(tally: Mapping[str, int]) -> str:
    return f"{tally['wins']} · {tally['losses']} · {tally['ties']}"


def _all_figures(found: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], number: int) -> None:
    rows = [
        {
            "metric": f"{label}@{found['k']}",
            "baseline": before["metrics"][metric],
            "profile": after["metrics"][metric],
            **found["differences"][metric],
            "coverage": after["coverage"],
            "baseline_coverage": before["coverage"],
        }
        for metric, label in LABELS.items()
    ]
    with panel("Every figure", "0 to 1. A chunk that nobody judged counts as not relevant; relevant is grade 1 to 3."):
        _table(rows, FIGURES, f"figures-{number}")


def _categories(found: Mapping[str, Any], name: str, number: int) -> None:
    rows = [_flat(row) | {"category": row["category"] or NO_CATEGORY} for row in found["categories"]]
    charts.card(
        f"Difference in {name} by category (points)",
        "Profile minus baseline, with the 95 % interval. Right of 0 is better.",
        drawing.differences([(str(r["category"]), r) for r in rows]),
        key=f"categories-{number}",
        table=partial(_table, rows, (Column("category", "Category", pinned=True), *GROUPS), f"category-rows-{number}"),
    )


def _slots(slots: Mapping[str, Mapping[str, float]], number: int) -> None:
    rows = [
        {"source": source, **{which: taken.get(source, 0.0) for which, taken in slots.items()}}
        for source in charts.SOURCE_COLOURS
    ]
    columns = (
        Column("source", "Source"),
        Column("baseline", "Baseline", "score"),
        Column("profile", "Profile", "score"),
    )
    _table(rows, columns, f"slot-rows-{number}")


def _dialogs(found: Mapping[str, Any], number: int) -> None:
    rows = [_flat(row) | {"dialog": formats.key(row["dialog_key"])} for row in found["dialogs"]]
    with st.expander(f"By dialog ({len(rows)})", type="compact"):
        _table(rows, (Column("dialog", "Dialog", pinned=True), *GROUPS), f"dialogs-{number}", ("dialog_key",))


def _queries(one: Evaluation, found: Mapping[str, Any], number: int) -> None:
    by_id = {query.id: query for query in reading.query_set(one.query_set).value.queries}
    rows = []
    for row in found["queries"]:
        query = by_id.get(row["query_id"])
        difference = None if row["baseline"] is None else row["profile"] - row["baseline"]
        rows.append(
            {
                **row,
                "query": query.query if query else "(no longer in the set)",
                "pair": veil.pair(query.ru_id, query.tu_id) if query else None,
                "difference": difference,
                "outcome": _outcome(difference),
            }
        )
    rows.sort(key=lambda row: (row["difference"] is None, row["difference"] or 0.0))
    with st.expander(f"By query ({len(rows)}), the losses first", type="compact"):
        _table(rows, QUERIES, f"queries-{number}", ("query_id", "dialog_key", "baseline_coverage"))


def _outcome(difference: float | None) -> str:
    if difference is None:
        return "left out"
    return "level" if abs(difference) < 1e-12 else "better" if difference > 0 else "worse"


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in row.items() if name != "tally"}, **row["tally"]}


def _table(rows: list[dict[str, Any]], columns: tuple[Column, ...], key: str, more: tuple[str, ...] = ()) -> None:
    height = "content" if len(rows) <= 12 else "auto"
    tables.show(rows, columns, key=key, zone=my_zone_name(), height=height)  # type: ignore[arg-type]
    tables.downloads(rows, [*(c.field for c in columns), *more], name="evaluation", key=f"{key}-file")
