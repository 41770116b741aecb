"""Missions: what an AI works on by itself, round by round, with every change up to a person."""

from __future__ import annotations

import streamlit as st

from pages._shared import formats, guard
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import page_head
from pages._shared.layout import Figure, figures
from pages._shared.missions import detail, editor, listing, reading, words
from pages._shared.operations import outcome

here = guard.enter("missions")
head = page_head(here, "What an AI works on by itself, by rules or by a model; what it wants to change waits for you.")

with boundary(here.title):
    outcome.show()
    read = reading.everything()
    head.as_of(read.at)
    stale(read)
    missions = read.value
    detail.undo()
    if missions:
        figures(
            Figure("Active", formats.count(sum(m.state == "active" for m in missions)), "Missions that run."),
            Figure("Running", formats.count(sum(map(words.running, missions))), "Runs under way in any process."),
            Figure("Waiting", formats.count(sum(m.waiting for m in missions)), "Proposals of missions to decide."),
            Figure("Failing", formats.count(sum(m.fail_count > 0 for m in missions)), "Whose last run failed."),
        )
    with boundary("The mission form"):
        editor.show()
    if not missions:
        empty(
            "No mission yet",
            "A mission looks after something at its times: expired snapshots, health in the morning, usage. One by "
            "rules needs no model. Without the application missions run with this command:",
            code="python -m core companion run",
        )
    else:
        chosen = reading.chosen(missions)
        left, right = st.columns([2, 3], gap="medium")
        with left:
            listing.show(missions, chosen, read.at)
        with right:
            if chosen is not None:
                detail.show(chosen, read.at)
