"""Evaluations made before on this set; they are never changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.tuning.evaluation import LABELS
from core.tuning.evaluations import Evaluation
from pages._shared import formats, session, tables
from pages._shared.layout import panel
from pages._shared.tables import Column
from pages._shared.tuning import reading
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("created_at", "When", "when", pinned=True),
    Column("profile", "Profile", width=160),
    Column("baseline", "Baseline", width=160),
    Column("verdict", "Verdict", width=120),
    Column("figure", "Figure", width=90),
    Column("difference", "Points", "signed", help="Profile minus baseline, times 100."),
    Column("coverage", "Judged", "score"),
    Column("queries", "Queries", "count", help="With a relevant chunk."),
    Column("query_set_version", "Set version", "count"),
    Column("by", "By"),
    Column("rule", "Rule", width=420),
)


def show(set_id: str, open_: Callable[[str, str], None]) -> None:
    read = reading.evaluations(set_id)
    if not read.value.rows:
        return
    rows = [row_of(one) for one in read.value.rows]
    with panel("Evaluations of this set", "Each with the versions it is of. Click one to open it."):
        turn = session.remembered("past-turn", 0)
        chosen = tables.show(rows, COLUMNS, key=f"past-{turn}", zone=my_zone_name(), select=True, height="auto")
        tables.downloads(rows, [*(c.field for c in COLUMNS), "id"], name="evaluations", key="past-file")
    if read.value.total > len(rows):
        st.caption(f"The latest {len(rows)} of {formats.count(read.value.total)}.")
    if chosen is not None:
        session.remember("past-turn", turn + 1)
        open_(set_id, read.value.rows[chosen].id)
        st.rerun()


def row_of(one: Evaluation) -> dict[str, Any]:
    """An evaluation as the table shows it."""
    names, primary = one.names or {}, one.primary or {}
    difference = primary.get("difference")
    return {
        "created_at": one.created_at,
        "profile": _version(names.get("profile"), one.profile_version),
        "baseline": _version(names.get("baseline"), one.baseline_version),
        "verdict": one.verdict,
        "figure": f"{LABELS.get(primary.get('metric', ''), '')}@{primary.get('k', '')}",
        "difference": None if difference is None else 100 * difference,
        "coverage": one.coverage,
        "queries": one.queries,
        "query_set_version": one.query_set_version,
        "by": (one.actor or {}).get("display_name"),
        "rule": one.rule,
        "id": one.id,
    }


def _version(name: str | None, version: int | None) -> str:
    return f"{name or '–'} ({version})" if version else f"{name or '–'} (not stored)"
