"""What the recorded query finds today, beside what it found then, with the drift of each chunk in words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import streamlit as st

from core.memory.prompt import prompt_block
from core.retrievals.drift import CHANGES, Drift
from core.retrievals.record import Retrieval
from core.services.replay import DIFFERENCES, Replayed
from core.tokens import estimate_tokens
from pages._shared import formats, tables
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.prompts import reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("then", "Then", "count", width=60, pinned=True, help="Its place in the record."),
    Column("now", "Today", "count", width=65, pinned=True, help="Its place today under the active profile."),
    Column("before", "Old weights", "count", width=95, help="Its place today under the recorded weights."),
    Column("what", "What changed", width=230),
    Column("source", "Source", width=105),
    Column("text", "Text", width=300),
    Column("score_then", "Score then", "score", width=90),
    Column("score_now", "Score today", "score", width=95),
)


def show(record: Retrieval) -> None:
    says = "The same query asked now, with the active profile and with the recorded weights. It is not recorded again."
    with panel("Replayed: today beside then", says):
        if record.query is None:
            st.text("Cannot be replayed: the words of this query were erased.")
            return
        with st.spinner("Asking again"):
            found = reading.replayed(record)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(
                "replayed", color="violet", help="Made today from what is stored today; not what was returned then."
            )
            st.text(summary(found.value), width="content")
        for difference in found.value.differs:
            st.text(f"· {DIFFERENCES[difference]}{_detail(difference, record, found.value)}")
        for warning in found.value.warnings:
            st.text(f"· {warning.message}")
        _table(found.value)
        with st.expander("Prompt block of today"), boundary("The block of today"):
            block = prompt_block(found.value.hits)
            st.caption(f"~{formats.short(estimate_tokens(block))} tokens (estimate)")
            st.code(block or "(no chunk)", language=None, wrap_lines=True)


def summary(found: Replayed) -> str:
    """In one line: whether anything is different, and what."""
    if all(drift.same for drift in found.drift):
        return (
            "Nothing is different: the same chunks at the same places."
            if found.drift
            else "Nothing then, nothing today."
        )
    counts = Counter(change for drift in found.drift for change in drift.changes)
    return ", ".join(f"{number} {CHANGES[change]}" for change, number in counts.most_common())


def row_of(drift: Drift) -> dict[str, Any]:
    return {
        "id": drift.id,
        "then": drift.then.rank if drift.then else None,
        "now": drift.rank_now,
        "before": drift.rank_before,
        "what": "; ".join(CHANGES[change] for change in drift.changes),
        "source": drift.source,
        "text": drift.text,
        "score_then": drift.then.score if drift.then else None,
        "score_now": drift.score_now,
    }


def _table(found: Replayed) -> None:
    rows = [row_of(drift) for drift in found.drift]
    if not rows:
        return
    columns = COLUMNS if found.before else [c for c in COLUMNS if c.field != "before"]
    tables.show(rows, columns, key="drift", zone=my_zone_name(), height="content")
    tables.downloads(rows, list(rows[0]), name="replay", key="drift-file")


def _detail(difference: str, record: Retrieval, found: Replayed) -> str:
    if difference == "model":
        return f" Then {record.model}, today {found.model}."
    if difference == "weights":
        return f" Then {_boosts(record.weights)}; today {_boosts(found.profile.weights)}."
    return ""


def _boosts(weights: Any) -> str:
    return ", ".join(f"{source} {boost:+.3f}" for source, boost in weights.items() if boost) or "none"
