"""The health light of the sidebar: one word, its colour, the reason."""

from __future__ import annotations

import streamlit as st

from core.errors import CoreError
from pages._shared import reads
from pages._shared.fragments import fragment

EVERY_S = 30.0
COLOURS = {"ok": "green", "degraded": "orange", "down": "red", "unknown": "gray"}


def badge(status: str) -> None:
    """A status as its word in its colour; a word we do not know is unknown, not ok."""
    st.badge(status if status in COLOURS else "unknown", color=COLOURS.get(status, "gray"))  # type: ignore[arg-type]


@fragment(run_every=EVERY_S)
def show() -> None:
    """Never fails: a light that cannot be had is itself the message. Made again by itself, alone, on an open page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        try:
            report = reads.health()
        except CoreError as error:
            badge("down")
            st.caption(error.what)
            return
        badge(report.status)
        st.caption(report.reason or "Every component answers.")
