"""Calendar: appointments, written in one line, by local day."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import inbox
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.own import acting, appointments, entry, reading

here = guard.enter("calendar")
head = page_head(here, "Which appointments there are today and in the days ahead.")

with boundary(here.title):
    entry.line("calendar", "New appointment", "Dentist friday 14:00-14:30 @ Main street 5", appointments.write)
    acting.show("calendar")
    read = reading.ask("appointments", "day", reading.today())
    head.as_of(read.at)
    stale(read)
    inbox.show("calendar")
    appointments.figures(read.value)
    left, right = st.columns([3, 2])
    with left:
        appointments.listing()
    with right:
        appointments.chart()
