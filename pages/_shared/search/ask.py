"""What is asked: which dialog or all of them, the query, the limit, the filters. Limit and mode are in the address."""

from __future__ import annotations

import streamlit as st

from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.sources import LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN
from pages._shared import address, formats, reads, session
from pages._shared.dialogs.listing import option
from pages._shared.session import DialogChoice

MODES = ("both", "reply")
NOW = "search-now"  # asked at once, for a view of a search
SCOPES = {"one": "one dialog", "all": "all dialogs"}


def draw() -> SearchRequest | AcrossRequest | None:
    """Draws the form; the request once somebody pressed Search with a query in it, else None."""
    with st.container(border=True):
        everywhere = address.segments("Search in", SCOPES, "scope", default="one") == "all"
        dialog = None if everywhere else _picker()
        with st.form("ask", border=False):
            query = st.text_input(
                "Query",
                value=session.remembered("query", ""),
                placeholder="serious relationship",
                key="query",
                max_chars=4000,
            )
            with st.container(horizontal=True, vertical_alignment="bottom"):
                limit = st.number_input(
                    "Chunks to list" if everywhere else "Chunks in the prompt",
                    LIMIT_MIN,
                    LIMIT_MAX,
                    LIMIT_DEFAULT,
                    key="limit",
                    bind="query-params",
                    width=170,
                )
                mode, client = "both", ""
                if not everywhere:
                    mode = st.selectbox(
                        "Compose mode",
                        MODES,
                        key="mode",
                        bind="query-params",
                        width=140,
                        help="A search for both keeps rows for replies and for both, as the service does.",
                    )
                    client = st.text_input(
                        "Only rows of RU",
                        key="client",
                        width=190,
                        placeholder="any",
                        help="Keeps rows of this RU id and rows without one.",
                    )
                by_words = st.checkbox(
                    "By words if there is no embedder",
                    key="words",
                    bind="query-params",
                    disabled=everywhere,
                    help="The lexical fallback: words in common, not meaning. Marked as such.",
                )
                pressed = st.form_submit_button("Search", type="primary", icon=":material/search:")
    again = session.remembered(NOW, False)
    session.remember(NOW, False)
    if not pressed and not again:
        return None
    session.remember("query", query)
    if not (query or "").strip():
        st.warning("The query is empty: write what the next reply is about.")
        return None
    if everywhere:
        return AcrossRequest(query=query, limit=int(limit or LIMIT_DEFAULT))
    if dialog is None:
        st.warning("No dialog is chosen.")
        return None
    return SearchRequest(
        dialog_key=dialog.dialog_key,
        query=query,
        client_id=(client or "").strip() or None,
        compose_mode=mode,
        limit=int(limit or LIMIT_DEFAULT),
        allow_fallback=bool(by_words),
    )


def _picker() -> DialogChoice | None:
    """The dialog in hand, or one of those that match what is typed."""
    chosen = session.dialog()
    left, right = st.columns((1, 3))
    with left:
        typed = st.text_input("Find a dialog", key="find-dialog", type="search", placeholder="RU, TU or key")
    with right:
        found = reads.dialogs(typed or "", False, "last_at", True, 1).value
        rows = list(found.rows)
        if chosen and not typed and chosen.dialog_key not in {r.dialog_key for r in rows}:
            kept = reads.dialog(chosen.dialog_key).value
            rows = [kept, *rows] if kept else rows
        if not rows:
            st.text("No dialog matches." if typed else "No dialog is stored.")
            return None
        keys = [r.dialog_key for r in rows]
        by_key = {r.dialog_key: r for r in rows}
        picked = st.selectbox(
            f"Dialog ({len(rows)} of {formats.count(max(found.total, len(rows)))}, the latest first)",
            keys,
            index=keys.index(chosen.dialog_key) if chosen and chosen.dialog_key in keys else 0,
            format_func=lambda key: option(by_key[key]),
            width="stretch",
        )
    row = by_key[picked]
    choice = DialogChoice(row.dialog_key, row.ru_id, row.tu_id)
    session.choose_dialog(choice)
    return choice
