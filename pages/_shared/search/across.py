"""What a search over all dialogs found: the best chunks of everybody, each with its dialog one click away."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.memory.dialogs import StoredChunk
from core.memory.hits import AcrossResult, Hit
from pages._shared import charts, formats, layout, reads, session, tables, veil
from pages._shared.feedback import empty
from pages._shared.layout import Figure, panel
from pages._shared.search.drawing import Bar, scores
from pages._shared.search.places import day
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("rank", "Place", "count", pinned=True),
    Column("pair", "Dialog", width=170),
    Column("source", "Source", width=95),
    Column("weighted_score", "Score", "score"),
    Column("cosine", "Cosine", "score"),
    Column("boost", "Boost", "signed"),
    Column("date", "Date", width=100),
    Column("text", "Text"),
)
FIELDS = (
    "rank",
    "dialog_key",
    "pair",
    "id",
    "source",
    "weighted_score",
    "cosine",
    "boost",
    "note_date",
    "sent_at",
    "text",
)
METHODS = {"exact": "exact: every chunk was compared", "hnsw": "by the index (HNSW), one scan per source: nearly exact"}


def show(found: AcrossResult) -> None:
    found = replace(found, hits=veil.cover(found.hits))
    time = found.latency
    layout.figures(
        Figure("Chunks looked at", formats.count(found.scanned), METHODS.get(found.method)),
        Figure("Dialogs among the best", formats.count(len({h.dialog_key for h in found.hits}))),
        Figure("Embed · DB (ms)", f"{time.embed_ms:.0f} · {time.database_ms:.0f}", f"{time.total_ms:.1f} ms in all."),
    )
    if not found.hits:
        empty("Nothing to compare", f"No chunk carries a vector of the active model, {found.model}.")
        return
    stored = {c.id: c for c in reads.chunks_by_id(tuple(hit.id for hit in found.hits))}
    rows = [row_of(hit, stored.get(hit.id)) for hit in found.hits]
    says = (
        f"Method: {METHODS.get(found.method, found.method)}. Boosts are the active ones. "
        "Sliders, cut line and why-not need one dialog: click a row to search in its dialog."
    )
    with panel("The best chunks of all dialogs", says):
        chosen = tables.show(
            rows,
            COLUMNS,
            key=f"across-{found.as_of.timestamp()}",
            zone=my_zone_name(),
            select=True,
            height="content",
        )
        tables.downloads(rows, FIELDS, name="search-all-dialogs", key="across-file")
        if chosen is not None:
            _open(rows[chosen])
    bars = [Bar(hit.rank, hit.source, hit.cosine, hit.boost, hit.rank) for hit in found.hits]
    charts.card(
        "Score by place (cosine + boost)",
        "The lighter part is the boost of the source.",
        scores(bars, len(bars)),
        key="across-scores",
    )


def row_of(hit: Hit, stored: StoredChunk | None) -> dict[str, object]:
    """A hit with its pair; by its key alone where the row went meanwhile."""
    return {
        **{name: getattr(hit, name) for name in FIELDS if name != "pair"},
        "pair": veil.pair(stored.client_id, stored.woman_id) if stored else formats.key(hit.dialog_key or ""),
        "ru_id": stored.client_id if stored else None,
        "tu_id": stored.woman_id if stored else None,
        "date": hit.note_date or day(hit.sent_at),
    }


def _open(row: dict[str, object]) -> None:
    st.text(str(row["text"]), width="stretch")
    choice = session.DialogChoice(str(row["dialog_key"]), row["ru_id"], row["tu_id"])  # type: ignore[arg-type]
    with st.container(horizontal=True):
        st.button("Search in this dialog", icon=place("search").icon, type="primary", on_click=_narrow, args=(choice,))
        if st.button("Open the dialog", icon=place("dialogs").icon):
            session.choose_dialog(choice)
            st.switch_page(place("dialogs").path, query_params={})


def _narrow(choice: session.DialogChoice) -> None:
    session.choose_dialog(choice)
    st.session_state["scope"] = "one"
