"""Search: what reaches the prompt for a query, and why."""

from __future__ import annotations

import streamlit as st

from core.errors import DatabaseError
from core.memory.requests import AcrossRequest
from pages._shared import demo, guard, reads, session
from pages._shared.companion import inbox
from pages._shared.feedback import boundary, empty
from pages._shared.head import page_head
from pages._shared.overview import first_steps
from pages._shared.resources import core
from pages._shared.search import across, ask, results

AGAIN = "search-again"

here = guard.enter("search")
head = page_head(
    here, "Which chunks reach the prompt for a query, how each score is made, and what other boosts would change."
)

with boundary(here.title):
    asked = ask.draw() or session.remembered(AGAIN, None)
    if asked is not None:
        session.keep_exploration(None)
        session.remember(AGAIN, None)
        with boundary("This search"), st.spinner("Searching"):
            search = core().search
            try:
                if isinstance(asked, AcrossRequest):
                    session.keep_exploration(search.across(asked))
                else:
                    session.keep_exploration(search.explore(asked))
            except DatabaseError:
                session.remember(AGAIN, asked)  # asked again when the page comes back by itself
                raise
    found = session.exploration()
    if found is None and asked is None:
        stored = reads.overview().value
        if stored.chunks:
            empty("Nothing has been searched yet", "Write a query and press Search.")
        elif not demo.arriving(stored.demo):
            first_steps()
    elif found is not None:
        head.as_of(found.as_of)
        if isinstance(found, across.AcrossResult):
            across.show(found)
        else:
            results.show(found)
inbox.show("memory")  # at the end: whoever comes here has a question of their own
