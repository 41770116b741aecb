"""Workbench: what an AI proposes and waits for a person, and what became of what it proposed before."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import workbench
from pages._shared.feedback import boundary, stale
from pages._shared.head import page_head
from pages._shared.operations import outcome

here = guard.enter("workbench")
head = page_head(here, "What an AI wants to change: look at it, approve or reject it, and see what became of it.")

with boundary(here.title):
    outcome.show()
    choice = workbench.choose()
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
