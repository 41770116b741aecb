"""Taking one chunk out of the memory, with a reason; and the ways to what is done to a whole dialog."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.memory.corrections import REASONS, Kind
from pages._shared import session
from pages._shared.operations import mending, merge, outcome
from pages._shared.parts import only
from pages._shared.sitemap import place


@only("exclude_chunks")
def show(chunk_id: str) -> None:
    """The two ways out, folded away: exclude until somebody decides otherwise, or delete with 14 days to undo it."""
    with st.popover("Take it out…", icon=":material/block:"):
        st.text("No search finds it then, and no ingest of the dashboard writes it again.")
        reason = st.selectbox("Reason", list(REASONS), format_func=REASONS.__getitem__, key="out-reason")
        with st.container(horizontal=True):
            st.button("Exclude", key="out-exclude", type="primary", on_click=_out, args=(chunk_id, reason, "excluded"))
            st.button("Delete", key="out-delete", on_click=_out, args=(chunk_id, reason, "deleted"))
        st.caption("An excluded chunk can always be put back, a deleted one for 14 days.")


def _out(chunk_id: str, reason: str, kind: Kind) -> None:
    done = outcome.attempt("Take out", partial(mending.exclude, [chunk_id], reason, kind))
    if done is not None:
        outcome.say("done", f"The chunk was {kind}. It can be put back under Taken out, below.")


def ways(kept: str | None = None, dropped: str | None = None) -> None:
    """Buttons to the sections of Operations that act on the open dialog; with two keys also to the merge of both."""
    with st.container(horizontal=True):
        if (
            kept
            and dropped
            and session.may("merge_keys")
            and st.button("Merge the two…", key="to-merge", icon=":material/merge:")
        ):
            st.session_state[merge.PICKED] = (kept, dropped)
            st.switch_page(place("operations").path, query_params={"section": "merge"})
        if session.may("erase_person") and st.button(
            "Erase this person…", key="to-erase", icon=":material/person_remove:"
        ):
            st.switch_page(place("operations").path, query_params={"section": "erase"})
