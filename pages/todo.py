"""Todo: tasks, written in one line, completed with one click."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import inbox
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.own import acting, entry, reading, tasks

here = guard.enter("todo")
head = page_head(here, "What is to be done, what is overdue, and what was done this week.")

with boundary(here.title):
    entry.line("todo", "New task", "Call Anna tomorrow !high", tasks.write)
    acting.show("todo")
    read = reading.ask("tasks", "day", reading.today())
    head.as_of(read.at)
    stale(read)
    inbox.show("todo")
    tasks.figures(read.value)
    left, right = st.columns([3, 2])
    with left:
        tasks.listing()
    with right:
        tasks.chart()
