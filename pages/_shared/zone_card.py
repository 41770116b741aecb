"""The card in which people choose the time zone they read in."""

from __future__ import annotations

import streamlit as st

from core.errors import CoreError
from core.services.preferences import zones
from pages._shared.layout import panel
from pages._shared.resources import core, settings

KEY = "my-zone"
REFUSED = "desk.zone.refused"
INSTALLATION = ""


def card() -> None:
    """Errors: CoreError."""
    chosen = core().preferences.chosen() or INSTALLATION
    whole = settings().time_zone
    if st.session_state.get(KEY) != chosen:
        st.session_state[KEY] = chosen
    with panel("Your time zone", "For you alone; what is stored stays as it is."):
        st.selectbox(
            "Times are shown in",
            [INSTALLATION, *zones()],
            key=KEY,
            format_func=lambda name: name or f"as the installation ({whole})",
            on_change=_choose,
            width=320,
        )
        if refused := st.session_state.pop(REFUSED, None):
            st.error(refused)
        st.caption(f"The own day, and days of the companion (streaks, goals), keep to {whole} for everybody.")


def _choose() -> None:
    try:
        core().preferences.choose(st.session_state[KEY] or None)
    except CoreError as error:
        st.session_state[REFUSED] = str(error)
