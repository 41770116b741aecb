"""The demo data's own card: what it is, how many rows, and one confirmed click to be rid of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.errors import CoreError
from pages._shared import actions, reads
from pages._shared.feedback import boundary, broken
from pages._shared.formats import count, plural
from pages._shared.fragments import fragment
from pages._shared.parts import only
from pages._shared.resources import core

EVERY_S = 2.0
ASKED = "desk.demo.asked"
DONE = "desk.demo.done"
FAILED = "desk.demo.failed"


def arriving(demo: Mapping[str, Any]) -> bool:
    """While the demo data is being loaded: says how far that is, and runs the page again when it is done."""
    if demo.get("state") != "loading" and (demo.get("chunks") or core().demo.state().state != "loading"):
        return False
    _progress()
    return True


@fragment(run_every=EVERY_S)
def _progress() -> None:
    now = core().demo.state()
    if now.state != "loading":
        reads.refresh()
        st.rerun()
    share = min(1.0, now.done / now.total) if now.total else 0.0
    st.progress(share, text="The demo data is being loaded: figures and lists are not complete yet.")


@only("demo_remove")
def card(demo: Mapping[str, Any]) -> None:
    """Draws nothing where there is no demo data and none was removed just now."""
    failure = st.session_state.pop(FAILED, None)
    if failure is not None:
        broken("The removal", failure)
    gone = st.session_state.pop(DONE, None)
    if gone is not None:
        if gone:
            st.success(f"{plural(gone, 'demo row')} removed. The demo data will not come back by itself.")
        else:
            st.info("The demo data was gone already: nothing was left to remove.")
    chunks = int(demo.get("chunks") or 0)
    if not chunks:
        return
    with st.container(border=True):
        st.markdown("**Demo data**")
        st.text(
            f"{plural(chunks, 'chunk')} of invented dialogs, with invented snapshots, usage and prices, and six weeks "
            "of an invented operator's days, to look around with. While they are here, searches use the local model. "
            "Rows of your own are not touched by a removal."
        )
        if st.button("Remove demo data…", key="demo-ask", icon=":material/delete:"):
            st.session_state[ASKED] = True
    if st.session_state.get(ASKED):
        _confirm()


@st.dialog("Remove the demo data?", on_dismiss=lambda: st.session_state.pop(ASKED, None))
def _confirm() -> None:
    if not st.session_state.get(ASKED):  # decided: a click in here runs this function alone, and the page must follow
        st.rerun()
    with boundary("The count"):
        rows = reads.demo_rows()
        st.text(
            f"This deletes {plural(rows.chunks, 'chunk')}, {plural(rows.snapshots, 'snapshot')}, "
            f"{plural(rows.usage, 'row')} of usage and {plural(rows.prices, 'price')}, with the invented days and "
            "what was learned from them, and cannot be undone. "
            "`python -m core demo --load` loads them again."
        )
        with st.container(horizontal=True):
            st.button(f"Remove {count(rows.total)} rows", key="demo-remove", type="primary", on_click=_remove)
            st.button("Keep them", key="demo-keep", on_click=lambda: st.session_state.pop(ASKED, None))


def _remove() -> None:
    st.session_state.pop(ASKED, None)
    try:
        st.session_state[DONE] = actions.remove_demo()
    except CoreError as error:  # kept for the page: what a callback draws is gone with the next run
        st.session_state[FAILED] = error
