"""Activity: who did what, to what, why, with before and after; and whether the record itself was touched."""

from __future__ import annotations

from pages._shared import guard
from pages._shared.activity import chain, detail, filters, listing
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head

here = guard.enter("activity")
head = page_head(here, "Who did what, to what, and why; changes, and reads of personal text.")

with boundary(here.title):
    choice = filters.choose()
    read = listing.read(choice)
    head.as_of(read.at)
    stale(read)
    chosen = listing.show(choice, read.value)
    if chosen is not None:
        detail.show(chosen)
with boundary("The chain of hashes"):
    chain.card()
