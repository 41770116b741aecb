"""Activity: who did what, to what, why, with before and after; and whether the record itself was touched."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.activity import chain, detail, filters, listing, reading, tally
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head

here = guard.enter("activity")
head = page_head(here, "Who did what, to what, and why: changes, reveals, exports, reads, sign-ins, AIs.")

with boundary(here.title):
    choice = filters.choose(reading.actors())
    counted = reading.counts(choice).value
    tally.line(choice, counted)
    read = listing.read(choice)
    head.as_of(read.at)
    stale(read)
    chosen = listing.show(choice, read.value)
    if chosen is not None:
        detail.show(chosen)
    tally.tables_of(choice, counted)
    st.caption(tally.KEPT)
with boundary("The chain of hashes"):
    chain.card()
