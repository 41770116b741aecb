"""Prompt audit: what a search returned for a request, and what the same query finds today."""

from __future__ import annotations

from pages._shared import guard
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.prompts import finding, never, one, reading, wrong

here = guard.enter("prompts")
head = page_head(
    here, "What each search returned and what reached the prompt, what the same query finds today, and what changed."
)

with boundary(here.title):
    chosen = reading.chosen()
    if chosen:
        one.show(chosen, head)
    else:
        finding.show(head)
        if not reading.request():
            dialog = reading.only_dialog()
            if dialog is not None:
                never.show(dialog)
            with boundary("Reports of wrong context"):
                wrong.listed(dialog.dialog_key if dialog else None)
            never.retention()
