"""The first line of every page: only inside the frame, and only for somebody who may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import streamlit as st

from core.access import ACTIONS, who_may
from core.events import run_as
from pages._shared import session, veil
from pages._shared.sitemap import Place, place
from pages._shared.views import opening

FRAMED = "desk.framed"


@contextmanager
def framed() -> Iterator[None]:
    """Marks this run as one that came through the frame; the mark never outlives the run."""
    st.session_state[FRAMED] = True
    try:
        with run_as(session.actor()):
            yield
    finally:
        st.session_state.pop(FRAMED, None)


def _refuse(here: Place) -> NoReturn:
    """Calm, since nothing is broken: what this page is for, and who may open it."""
    roles = " or ".join(who_may(here.action))
    st.header(here.title, anchor=False)
    st.info(f"This page is for those who may {ACTIONS[here.action].does}: {roles}. An administrator gives roles.")
    st.stop()


def enter(name: str) -> Place:
    """The place of this page. A page that Streamlit runs by itself, without the frame, shows nothing but a way in."""
    if not st.session_state.get(FRAMED):
        st.info("This page opens inside Memory Desk only. Open the start address instead.")
        st.stop()
    here = place(name)
    if not session.may(here.action):
        _refuse(here)
    veil.arrive(name)
    opening.arrive(name)
    return here
