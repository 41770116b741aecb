"""Food: what was eaten today, written in one line, against the goals of the day."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import inbox
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.own import acting, entry, meals, reading

here = guard.enter("food")
head = page_head(here, "What was eaten today, in calories and protein against the goals.")

with boundary(here.title):
    entry.line("food", "New meal", "lunch soup 450 kcal 20 g protein", meals.write)
    acting.show("food")
    read = reading.ask("meals", "day", reading.today())
    head.as_of(read.at)
    stale(read)
    inbox.show("food")
    meals.figures(read.value)
    left, right = st.columns([3, 2])
    with left:
        meals.listing()
    with right:
        meals.chart(read.value["calories"]["goal"])
        meals.goals()
