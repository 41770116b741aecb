"""The demo data's own card: what it is, how many rows, and one confirmed click to be rid of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages._shared import actions
from pages._shared.feedback import boundary
from pages._shared.formats import count, plural

ASKED = "desk.demo.asked"
DONE = "desk.demo.done"


def card(demo: Mapping[str, Any]) -> None:
    """Draws nothing where there is no demo data and none was removed just now."""
    gone = st.session_state.pop(DONE, None)
    if gone is not None:
        st.success(f"{plural(gone, 'demo chunk')} removed. The demo data will not come back by itself.")
    chunks = int(demo.get("chunks") or 0)
    if not chunks:
        return
    with st.container(border=True):
        st.markdown("**Demo data**")
        st.text(
            f"{plural(chunks, 'chunk')} of invented dialogs, to look around with. "
            "While they are here, searches use the local model. Rows of your own are not touched by a removal."
        )
        if st.button("Remove demo data…", key="demo-ask", icon=":material/delete:"):
            st.session_state[ASKED] = chunks
    if st.session_state.get(ASKED):
        _confirm()


@st.dialog("Remove the demo data?", on_dismiss=lambda: st.session_state.pop(ASKED, None))
def _confirm() -> None:
    chunks = st.session_state.get(ASKED) or 0
    st.text(f"This deletes {plural(chunks, 'chunk')} and cannot be undone. `python -m core demo` loads them again.")
    with st.container(horizontal=True):
        st.button(f"Remove {count(chunks)} chunks", key="demo-remove", type="primary", on_click=_remove)
        st.button("Keep them", key="demo-keep", on_click=lambda: st.session_state.pop(ASKED, None))


def _remove() -> None:
    st.session_state.pop(ASKED, None)
    with boundary("The removal"):
        st.session_state[DONE] = actions.remove_demo()
