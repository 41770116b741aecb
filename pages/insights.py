"""Insights: what repeats, what moves together, what was learned from answers, and how sure all of that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages._shared import address, guard
from pages._shared.companion import inbox, mind
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.insights import correlations, facts, learning, streaks
from pages._shared.operations import outcome
from pages._shared.reads import Read

VIEWS: dict[str, tuple[str, Callable[[], Read[Any]], Callable[[Any], None]]] = {
    "streaks": ("Streaks", mind.streaks, streaks.show),
    "correlations": ("Correlations", mind.correlations, correlations.show),
    "facts": ("Facts", mind.facts, facts.show),
    "learning": ("Learning", mind.rules, learning.show),
}

here = guard.enter("insights")
head = page_head(here, "What repeats, what moves together, what was learned, and how sure it is.")
inbox.show("insights")

with boundary(here.title):
    outcome.show()
    words = {name: label for name, (label, _, _) in VIEWS.items()}
    _, ask, show = VIEWS[address.segments("Insights", words, "view", default="streaks", labelled=False)]
    read = ask()
    head.as_of(read.at)
    stale(read)
    show(read.value)
