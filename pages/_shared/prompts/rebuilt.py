"""A request without a record: what its calls used, and its query built again from the memory of that moment."""

from __future__ import annotations

import streamlit as st

from core.memory.prompt import prompt_block
from core.retrievals.record import NOT_USED
from core.services.replay import Reconstructed
from core.tokens import estimate_tokens
from pages._shared import formats, tables
from pages._shared.feedback import boundary, empty
from pages._shared.layout import panel
from pages._shared.prompts import phases, reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("rank", "Place", "count", width=60, pinned=True),
    Column("source", "Source", width=105),
    Column("text", "Text"),
    Column("score", "Score", "score", width=75),
    Column("cosine", "Cosine", "score", width=75),
    Column(
        "lexical", "Words", "signed", width=75, help="What the words in common add: the active profile weighs them."
    ),
    Column("boost", "Boost", "signed", width=75),
    Column("remark", "Remark", width=160),
)


def show(request_id: str) -> None:
    found = reading.reconstructed(request_id).value
    if found is None:
        empty(
            "Nobody knows this request",
            "No search was recorded under it, and no call was logged with it. Records are kept for a limited time; "
            "rows of the usage log that wait on disk appear once they are written.",
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("reconstructed", color="orange", help="Neither what was asked nor what was returned was written down.")
        st.text(f"First call {formats.moment(found.at, my_zone())}", width="content")
    st.caption(
        "The query is built again from the messages and notes of up to that moment that are still stored, as the "
        f"service builds one; what it finds is what the memory gives today. {NOT_USED}"
    )
    left, right = st.columns((3, 2))
    with left, panel("Query, reconstructed", "Latest message each way, the recent window of ten, the last five notes."):
        st.text(found.query if found.query is not None else found.why)
    with right, boundary("The tokens of this request"):
        phases.show(request_id, found.request)
    if found.replayed is not None:
        _answer(found)


def _answer(found: Reconstructed) -> None:
    assert found.replayed is not None
    younger = {drift.id for drift in found.replayed.drift if "added" in drift.changes}
    rows = [
        {
            "rank": hit.rank,
            "source": hit.source,
            "text": hit.text,
            "score": hit.weighted_score,
            "cosine": hit.cosine,
            "lexical": hit.lexical,
            "boost": hit.boost,
            "remark": "was not stored then" if hit.id in younger else "",
        }
        for hit in found.replayed.hits
    ]
    says = "Today's memory, model and profile. What has been deleted since is missing; what came later is marked."
    with panel("Replayed: what it finds today", says):
        if not rows:
            st.text("Nothing.")
            return
        shown = [c for c in COLUMNS if c.field != "lexical" or found.replayed.profile.fusion]
        tables.show(rows, shown, key="rebuilt", zone=my_zone_name(), height="content")
        tables.downloads(rows, list(rows[0]), name="reconstructed", key="rebuilt-file")
        block = prompt_block(found.replayed.hits)
        with st.expander(f"Prompt block, ~{formats.short(estimate_tokens(block))} tokens (estimate)"):
            st.code(block, language=None, wrap_lines=True)
