"""Tuning: label what was found, compare profiles of retrieval on it, and bring the better one into force."""

from __future__ import annotations

from pages._shared import guard
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.operations import outcome
from pages._shared.tuning import views

here = guard.enter("tuning")
head = page_head(here, "Would other weights find more of what matters, and how sure are we? Label, compare, decide.")
chosen = views.choose()
outcome.show()
with boundary(chosen.title):
    chosen.show(head)
