"""Drink: what was drunk today, with one click or one line, against the goal for water."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import inbox
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.own import acting, drinks, entry, reading

here = guard.enter("drink")
head = page_head(here, "What was drunk today, and how far the goal for water is.")

with boundary(here.title):
    entry.line("drink", "New drink", "250 water", drinks.write)
    drinks.presets()
    acting.show("drink")
    read = reading.ask("drinks", "day", reading.today())
    head.as_of(read.at)
    stale(read)
    inbox.show("drink")
    drinks.figures(read.value)
    left, right = st.columns([3, 2])
    with left:
        drinks.listing()
    with right:
        drinks.chart(read.value["water"]["goal"])
        drinks.goal(read.value["water"]["goal"])
