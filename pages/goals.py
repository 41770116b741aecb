"""Goals: what is to be reached or kept, how far it is, and how it went before."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import mind
from pages._shared.feedback import boundary, empty, stale
from pages._shared.goals import cards, editor, offers
from pages._shared.head import page_head
from pages._shared.layout import Figure, figures
from pages._shared.operations import outcome

here = guard.enter("goals")
head = page_head(here, "What is to be reached or kept, by day, week or month, and how it went before.")

with boundary(here.title):
    outcome.show()
    read = mind.goals()
    head.as_of(read.at)
    stale(read)
    goals = read.value
    active = [goal for goal in goals if goal.status == "active"]
    if goals:
        nearly = [goal for goal in active if goal.target.comparison != "lte" and 60 <= goal.percent < 100]
        exceeded = [goal for goal in active if goal.target.comparison == "lte" and goal.remaining < 0]
        figures(
            Figure("Active", str(len(active)), "Goals that events move now."),
            Figure("Reached", str(sum(goal.reached for goal in active)), "In their present period."),
            Figure("Nearly", str(len(nearly)), "At 60 to 99 % of what is to be reached."),
            Figure("Exceeded", str(len(exceeded)), "Limits that are passed in their present period."),
        )
    with boundary("The goal editor"):
        editor.show()
    if goals:
        cards.show(goals, mind.today())
    else:
        cards.undo()
        empty(
            "No goal yet",
            "A goal counts events of any part of the product: choose a template below, or make one of your own.",
        )
    with boundary("The templates"), st.container(key="goal-templates"):
        offers.show(goals)
