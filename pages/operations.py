"""Operations: the work on the memory itself, each part counted before it is done, the long parts as jobs."""

from __future__ import annotations

from pages._shared import guard
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.operations import jobs, outcome, sections

here = guard.enter("operations")
head = page_head(
    here, "Bring dialogs in, embed, merge, clean up, erase. Every action says what it touches before it does it."
)
chosen = sections.choose()
jobs.ended()
outcome.show()
if chosen.name != "jobs":
    jobs.strip()
with boundary(chosen.title):
    chosen.show(head)
