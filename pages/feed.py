"""Feed: everything that the companion said and did, in one order."""

from __future__ import annotations

from pages._shared import guard
from pages._shared.companion import feed
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head

here = guard.enter("feed")
head = page_head(here, "Nudges, insights, proposals, runs of AIs, goals and conversations, newest first.")

with boundary(here.title):
    choice = feed.choose()
    read = feed.read(choice)
    head.as_of(read.at)
    stale(read)
    feed.show(choice, read)
