"""Workbench: what an AI proposes, what became of it, all that AIs did with the way back, and what they use."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import ai_usage, timeline, workbench
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.operations import outcome

here = guard.enter("workbench")
head = page_head(here, "What an AI wants to change, and what it did: look, approve, reject, take back.")

with boundary(here.title):
    outcome.show()
    choice = workbench.choose()
    if choice.view == "budget":
        ai_usage.budget()
    elif choice.view == "timeline":
        work = timeline.read(choice.mission, choice.module, timeline.choose())
        head.as_of(work.at)
        stale(work)
        timeline.show(work)
    else:
        read = workbench.read(choice)
        head.as_of(read.at)
        stale(read)
        workbench.figures()
        if choice.view == "waiting":
            workbench.waiting(choice, read)
        else:
            workbench.decided(choice, read)
with boundary("What an AI may do"), st.expander("What an AI may do by itself"):
    workbench.policy()
