"""The same query by words, beside the result by meaning; said plainly to be no semantic search."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.memory.hits import Hit
from pages._shared import formats, tables
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.search.view import View
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("rank", "Place by words", "count", pinned=True, width=110),
    Column("vector", "Place by meaning", "count", width=120, help="With the sliders as they stand."),
    Column("source", "Source", width=95),
    Column("score", "Score", "score", width=70),
    Column("cosine", "Word cosine", "score", width=95),
    Column("text", "Text"),
)


def show(view: View) -> None:
    found = view.found
    rows = [row_of(view, hit) for hit in found.lexical]
    says = (
        f"128 hashed words over {formats.plural(found.lexical_compared, 'text')} of this dialog (the best of each "
        "source), with the boosts of the search itself. It sees the same words, never the same meaning; no pgvector."
    )
    with panel("By words: the lexical fallback", says):
        st.badge("not semantic", color="orange")
        if found.fallback:
            st.text("There was no vector search: every result of this page is by words.")
        if not rows:
            empty("No text to compare by words", "The dialog has none.")
            return
        shared = sum(1 for row in rows if row["vector"] is not None and row["vector"] <= view.limit)
        st.text(f"{shared} of these {len(rows)} are also among the {view.limit} chosen by meaning.")
        tables.show(rows, COLUMNS, key="lexical", zone=my_zone_name(), height="content")
        tables.downloads(rows, [*(c.field for c in COLUMNS), "id"], name="search-by-words", key="lexical-file")


def row_of(view: View, hit: Hit) -> dict[str, Any]:
    index = view.found.candidates.positions.get(hit.id)
    return {
        "rank": hit.rank,
        "vector": None if index is None else int(view.ranking.ranks[index]),
        "source": hit.source,
        "score": hit.weighted_score,
        "cosine": hit.cosine,
        "text": view.shown(hit.text),
        "id": hit.id,
    }
