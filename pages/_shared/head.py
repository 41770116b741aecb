"""The head of a page, the same everywhere: title, what the page answers, environment, zone, "as of"."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from core.config import Settings
from core.errors import CoreError
from pages._shared import reveal, zone
from pages._shared.formats import clock
from pages._shared.resources import core, settings
from pages._shared.sitemap import Place
from pages._shared.views import control

ENVIRONMENT = {"demo": "orange", "local": "blue", "hosted": "violet"}
MEANING = {
    "demo": "Invented dialogs in the embedded database of this machine.",
    "local": "The embedded database of this machine.",
    "hosted": "A hosted Supabase project.",
}


class Head:
    """A drawn head; `as_of` fills in the moment once the page has its data."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def as_of(self, *moments: datetime) -> None:
        """Says how old the oldest figure of the page is."""
        if moments:
            self._slot.caption(f"as of {clock(min(moments), zone.my_zone())}")


def page_head(here: Place, sentence: str) -> Head:
    """Draws the head; it stands also where the database does not answer."""
    given = settings()
    with st.container(gap="xsmall"):
        st.header(here.title, anchor=False)
        st.caption(sentence)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name = environment(given)
            st.badge(name, color=ENVIRONMENT[name], help=MEANING[name])  # type: ignore[arg-type]
            st.badge(zone.my_zone_name(), color="gray", help=zone.says())
            slot = st.empty()
            reveal.control(here)
            control.control(here)
        control.told()
    return Head(slot)


def environment(given: Settings) -> str:
    """demo, local or hosted; local also while nobody can say whether the demo data is there."""
    if not given.embedded:
        return "hosted"
    try:
        return "demo" if core().demo.loaded() else "local"  # known without a question: a head never waits
    except CoreError:
        return "local"
