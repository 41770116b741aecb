"""Search: what reaches the prompt for a query, and why."""

from __future__ import annotations

import streamlit as st

from core.memory.requests import AcrossRequest
from pages._shared import guard, reads, session
from pages._shared.feedback import boundary, empty
from pages._shared.head import page_head
from pages._shared.resources import core
from pages._shared.search import across, ask, results

here = guard.enter("search")
head = page_head(
    here, "Which chunks reach the prompt for a query, how each score is made, and what other boosts would change."
)

with boundary(here.title):
    asked = ask.draw()
    if asked is not None:
        session.keep_exploration(None)
        with boundary("This search"), st.spinner("Searching"):
            search = core().search
            session.keep_exploration(
                search.across(asked) if isinstance(asked, AcrossRequest) else search.explore(asked)
            )
    found = session.exploration()
    if found is None and asked is None:
        stored = reads.overview().value.chunks
        why = (
            "Write a query and press Search."
            if stored
            else "No dialog is stored yet: the Overview says how to add one."
        )
        empty("Nothing has been searched yet", why)
    elif found is not None:
        head.as_of(found.as_of)
        if isinstance(found, across.AcrossResult):
            across.show(found)
        else:
            results.show(found)
