"""Places: where the operator was, as numbers: positions, distances, visits. No map, no other host."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import inbox
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.own import acting, entry, places, reading

here = guard.enter("places")
head = page_head(here, "Which places you keep, how far they are, and where you were today.")

with boundary(here.title):
    entry.line("places", "New place, or two numbers for where you are", "Gym 50.4501 30.5234 !sport", places.write)
    acting.show("places")
    read = reading.ask("places", "day", reading.today())
    head.as_of(read.at)
    stale(read)
    inbox.show("places")
    at = read.value.get("current_location")
    known = reading.ask("places", "list", (at["lat"], at["lng"]) if at else None).value
    places.figures(read.value, len(known))
    places.tracking(read.value["tracking"])
    left, right = st.columns([3, 2])
    with left:
        places.listing(known, read.value)
    with right:
        places.visits()
        places.chart()
