"""Today: the day as all parts see it, what waits for a decision, and quick entry."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import inbox
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.resources import core
from pages._shared.today import cards, entry, glance

here = guard.enter("today")
head = page_head(here, "What the day holds so far, what comes next, and what waits for you.")

with boundary(here.title):
    entry.show()
    waits = glance.asking()
    glance.follow(waits)
    left, right = st.columns([3, 2]) if waits else (st.container(), None)
    with left, boundary("The day"):
        companion = core().companion
        day = companion.projections.day(companion.records.today())
        if waits:
            cards.show(day, 2, glance.streaks)
            glance.goals()
        else:
            cards.show(day, 3, glance.streaks, glance.goals)
        head.as_of(core().clock.now())
    if right is not None:
        with right:
            glance.hints()
            inbox.show(None)
