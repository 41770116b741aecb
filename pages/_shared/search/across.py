"""What a search over all dialogs found: the best chunks of everybody, each with its dialog one click away."""

from __future__ import annotations

import streamlit as st

from core.memory.dialogs import DialogRow
from core.memory.hits import AcrossResult, Hit
from pages._shared import charts, formats, reads, session, tables
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.resources import settings
from pages._shared.search.drawing import Bar, scores
from pages._shared.sitemap import place
from pages._shared.tables import Column

COLUMNS = (
    Column("rank", "Place", "count", pinned=True),
    Column("pair", "Dialog", width=170),
    Column("source", "Source", width=95),
    Column("weighted_score", "Score", "score"),
    Column("cosine", "Cosine", "score"),
    Column("boost", "Boost", "signed"),
    Column("date", "Date", width=100),
    Column("text", "Text", width="large"),
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
    cells = st.columns(3)
    cells[0].metric(
        "Chunks looked at", formats.count(found.scanned), border=True, height="stretch", help=METHODS.get(found.method)
    )
    cells[1].metric(
        "Dialogs among the best", formats.count(len({h.dialog_key for h in found.hits})), border=True, height="stretch"
    )
    time = found.latency
    cells[2].metric(
        "Embed · database (ms)", f"{time.embed_ms:.0f} · {time.database_ms:.0f}", border=True, height="stretch"
    )
    if not found.hits:
        empty("Nothing to compare", f"No chunk carries a vector of the active model, {found.model}.")
        return
    rows = [row_of(hit, _dialog(hit.dialog_key)) for hit in found.hits]
    says = (
        f"Method: {METHODS.get(found.method, found.method)}. Boosts are the active ones. "
        "Sliders, cut line and why-not need one dialog: click a row to search in its dialog."
    )
    with panel("The best chunks of all dialogs", says):
        chosen = tables.show(rows, COLUMNS, key="across", zone=settings().time_zone, select=True, height="content")
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


def row_of(hit: Hit, dialog: DialogRow | None) -> dict[str, object]:
    return {
        **{name: getattr(hit, name) for name in FIELDS if name != "pair"},
        "pair": formats.pair(dialog.ru_id, dialog.tu_id) if dialog else formats.key(hit.dialog_key or ""),
        "ru_id": dialog.ru_id if dialog else None,
        "tu_id": dialog.tu_id if dialog else None,
        "date": hit.note_date or (hit.sent_at or "")[:10],
    }


def _dialog(dialog_key: str | None) -> DialogRow | None:
    return reads.dialog(dialog_key).value if dialog_key else None


def _open(row: dict[str, object]) -> None:
    st.text(str(row["text"]), width="stretch")
    choice = session.DialogChoice(str(row["dialog_key"]), row["ru_id"], row["tu_id"])  # type: ignore[arg-type]
    with st.container(horizontal=True):
        st.button("Search in this dialog", icon=place("search").icon, type="primary", on_click=_narrow, args=(choice,))
        if st.button("Open the dialog", icon=place("dialogs").icon):
            session.choose_dialog(choice)
            st.switch_page(place("dialogs").path)


def _narrow(choice: session.DialogChoice) -> None:
    session.choose_dialog(choice)
    st.session_state["scope"] = "one"
