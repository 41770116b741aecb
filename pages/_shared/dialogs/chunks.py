"""The chunks of one dialog: filters by source, flag and text, one chunk in full on demand."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.memory.dialogs import StoredChunk
from core.memory.sources import SOURCES
from pages._shared import address, formats, reads, session, tables
from pages._shared.dialogs import taking_out
from pages._shared.feedback import empty, stale
from pages._shared.layout import panel
from pages._shared.prompts import reading as prompts
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

FLAGS = {
    "duplicate": "The same text stands twice in this dialog: it can take two places in a prompt.",
    "superseded": "A newer chunk of the same source and id says something else; this older one is still searched.",
    "other_model": "Embedded by another model than the active one: not searchable until it is embedded again.",
    "photo_without_text": "Only the address of a photo: a search can hardly find it by what the photo shows.",
    "cut": "Exactly at the length limit: the end of the message was probably cut off.",
}
APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
COLUMNS = (
    Column("source", "Source", width=100, pinned=True),
    Column("text", "Text"),
    Column("date", "Date", width=130),
    Column("flags", "Flags", width=130),
    Column("direction", "Direction", width=85),
)
FIELDS = (
    *("id", "source", "source_id", "note_date", "sent_at", "direction", "text", "flags", "tags"),
    *("compose_mode", "embedding_model", "updated_at", "content_hash"),
)


def show(dialog_key: str) -> None:
    with panel(
        "Chunks", "Newest first by their own date, else by the day they were written. Click a row to read it whole."
    ):
        _panel(dialog_key)


def _panel(dialog_key: str) -> None:
    source, text = _filters()
    page = session.page_number("chunks")
    flag = address.given("flag")
    flag = flag if flag in FLAGS else None
    read = reads.chunks(dialog_key, source, flag, text, page)
    pages = max(1, -(-read.value.total // reads.PAGE))
    if page > pages:
        page = pages
        read = reads.chunks(dialog_key, source, flag, text, page)
    stale(read)
    _flags(read.value.flag_counts)
    if not read.value.rows:
        empty("No chunk matches", "Nothing in this dialog passes these filters.")
        return
    rows = [row_of(c) for c in read.value.rows]
    unseen = [row for row in rows if text and not found_in(text, row["text"])]
    for row in unseen:
        row["flags"] = ", ".join(filter(None, (row["flags"], "found in a masked part")))
    # Bound to what is listed: a tick means a place, and with one chunk taken out the places mean others.
    listed = f"chunks-{page}-{source}-{flag}-{read.value.total}-{read.value.rows[0].id}"
    chosen = tables.show(rows, COLUMNS, key=listed, zone=my_zone_name(), select=True, height="content")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if pages > 1:
            if "chunks" in st.session_state and st.session_state["chunks"] > pages:
                st.session_state["chunks"] = pages
            st.pagination(pages, key="chunks", bind="query-params", width=280)
        st.caption(formats.plural(read.value.total, "chunk"), width="content")
        tables.downloads(rows, FIELDS, name="chunks", key="chunks-file")
    if unseen:
        st.caption(f"{formats.plural(len(unseen), 'chunk')} here: found in a masked part of the text.")
    if chosen is not None:
        whole(read.value.rows[chosen])


def row_of(chunk: StoredChunk) -> dict[str, Any]:
    """A chunk as a row: the moment of a message in the zone of the settings, the day of a note as it is."""
    sent = formats.parse(chunk.sent_at)
    return {
        **{name: getattr(chunk, name) for name in FIELDS if name not in ("flags", "tags")},
        "date": f"{sent.astimezone(my_zone()):%Y-%m-%d %H:%M}" if sent else chunk.note_date,
        "flags": ", ".join(flag.replace("_", " ") for flag in chunk.flags),
        "tags": ", ".join(chunk.tags),
    }


def found_in(words: str, text: str) -> bool:
    """Whether what was looked for stands in the text as it is shown; apostrophes count as one, as in the search."""
    return words.translate(APOSTROPHES).lower() in text.translate(APOSTROPHES).lower()


def whole(chunk: StoredChunk) -> None:
    """One chunk in full, character for character, with everything known about it."""
    with st.container(border=True, key="whole-chunk"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(chunk.source, color="gray")
            for flag in chunk.flags:
                st.badge(flag.replace("_", " "), color="orange", help=FLAGS.get(flag))
        st.text(chunk.text, width="stretch")
        row = row_of(chunk)
        facts = [
            {"what": name.replace("_", " "), "value": str(row[name])} for name in FIELDS if name != "text" and row[name]
        ]
        if st.button("Queries that found it", icon=place("prompts").icon, type="tertiary"):
            prompts.ask_for_chunk(chunk.id)
            st.switch_page(place("prompts").path, query_params={})
        taking_out.show(chunk.id)
        with st.expander("Everything stored with it"):
            tables.show(facts, (Column("what", "What"), Column("value", "Value")), key="whole-facts", zone="UTC")


def _filters() -> tuple[str | None, str]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = st.selectbox(
            "Source", ("all", *SOURCES), key="source", bind="query-params", width=160, on_change=_first_page
        )
        text = st.text_input(
            "Text", key="chunk-text", type="search", placeholder="part of a text", width=260, on_change=_first_page
        )
    return (None if source == "all" else source), text or ""


def _flags(counts: Any) -> None:
    """Flags that occur, each with its number; choosing one filters by it."""
    present = [flag for flag in FLAGS if counts.get(flag)]
    kept = address.given("flag")
    if kept in FLAGS and kept not in present:
        present.append(kept)
    if not present:
        st.caption("No quality flag on any of these chunks.")
        return
    words = {flag: f"{flag.replace('_', ' ')} ({counts.get(flag, 0)})" for flag in present}
    chosen = address.pills("Quality flags", words, "flag", on_change=_first_page)
    st.caption(FLAGS[chosen] if chosen else "Choose a flag to see what it means and where it is.")


def _first_page() -> None:
    if "chunks" in st.session_state:
        st.session_state["chunks"] = 1
