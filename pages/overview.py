"""Overview: what the memory holds, whether it works, what changed lately."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._shared import charts, demo, guard, reads, session
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import page_head
from pages._shared.layout import panel
from pages._shared.overview import changes, figures, first_steps, models, pairs, today
from pages._shared.today import glance

here = guard.enter("overview")
head = page_head(here, "What the memory holds, whether it works, what waits, and what changed lately.")

with boundary(here.title):
    read = reads.overview()
    memory = read.value
    head.as_of(read.at)
    stale(read)
    loading = demo.arriving(memory.demo)
    figures(memory)
    with boundary("Today beside yesterday"):
        today()
    glance.waiting()
    if not memory.chunks:
        if not loading:
            first_steps()
    else:
        left, right = st.columns(2)
        with left:
            charts.card(
                "Chunks by source (rows)",
                "What the memory is made of. Each source has its own boost in a search.",
                charts.by_source(memory.by_source, "chunks"),
                key="by-source",
                table=partial(charts.source_table, memory.by_source, "Chunks", "by-source-rows"),
            )
        with right:
            models(memory)
        if memory.ambiguous_pairs:
            pairs()
    left, right = st.columns(2)
    with left:
        glance.goals()
    with right:
        glance.streaks()
    says = "The newest, each with its actor; searches and other looks stand on Activity. Never a text in it."
    if session.may("events"):
        with panel("Changes lately", says), boundary("The list of changes"):
            latest = reads.changes(12)
            if latest.value.rows:
                changes(latest.value.rows)
            else:
                empty("Nothing has changed yet", "Ingests, removals and migrations appear here as they happen.")
    demo.card(memory.demo)
