"""Routines: a morning, an evening or a check that is walked through step by step, and what became of each run."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.operations import outcome
from pages._shared.routines import composing, editor, listing, log, reading, running

here = guard.enter("routines")
head = page_head(here, "A morning, an evening or a check, walked through step by step; and how it went before.")

with boundary(here.title):
    outcome.show()
    opened = reading.opened()
    if editor.is_open():
        editor.show()
    elif composing.is_open():
        composing.show()
    elif opened is not None:
        running.show(opened)
    else:
        read = reading.rituals()
        head.as_of(read.at)
        listing.show(read)
        with boundary("The templates"), st.container(key="routine-templates"):
            listing.templates(read.value)
        with boundary("The log of runs"):
            log.show()
