"""Goals and streaks at a glance, proposals and nudges that wait: for Today and Overview, the same rows."""

from __future__ import annotations

import streamlit as st

from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.streaks import Streak
from core.errors import CoreError
from pages._shared import formats
from pages._shared.companion import deciding, inbox, mind, nudges
from pages._shared.feedback import boundary, stale
from pages._shared.fragments import fragment
from pages._shared.goals import cards
from pages._shared.insights.streaks import WORDS
from pages._shared.layout import panel
from pages._shared.parts import only
from pages._shared.sitemap import place

MOST = 5
MOST_NUDGES = 3
COLOURS = {"active": "green", "at_risk": "orange", "broken": "gray"}


def asking() -> tuple[str, ...]:
    """The ids of what waits; none where the database is away: the page itself says so."""
    try:
        proposals = deciding.proposals("open", None, None).value.rows
        return (*(nudge.id for nudge in mind.nudges().value), *(proposal.id for proposal in proposals))
    except CoreError:
        return ()


@fragment(run_every=nudges.EVERY_S)
def follow(drawn: tuple[str, ...]) -> None:
    """Draws nothing: the page anew, once other things wait than those it shows."""
    if asking() != drawn:
        st.rerun()


@only("companion")
def waiting() -> None:
    """What asks for a decision, nudges beside proposals; draws nothing where nothing does."""
    waits = asking()
    follow(waits)
    if waits:
        left, right = st.columns(2)
        with left:
            hints()
        with right:
            inbox.show(None)


def hints() -> None:
    """The nudges, the most important ones; draws nothing where there is none."""
    with boundary("The nudges"):
        more = nudges.feed(MOST_NUDGES) - MOST_NUDGES
        if more > 0:
            there = place("feed")
            st.page_link(there.path, label=f"{formats.plural(more, 'more nudge')} on {there.title}", icon=there.icon)


@only("companion")
def goals() -> None:
    with panel("Goals", "Those of today first.", key="glance-goals"), boundary("The goals"):
        read = mind.goals()
        stale(read)
        active = [goal for goal in read.value if goal.status == "active"]
        for goal in sorted(active, key=_order)[:MOST]:
            _goal(goal)
        if not active:
            st.text("No goal yet. A template makes one with one click.")
        elif len(active) > MOST:
            st.caption(f"and {len(active) - MOST} more")
        _open("goals")


@only("companion")
def streaks() -> None:
    with panel("Streaks", "At risk first, then the longest.", key="glance-streaks"), boundary("The streaks"):
        read = mind.streaks()
        stale(read)
        begun = [streak for streak in read.value if streak.current]
        for streak in sorted(begun, key=lambda s: (s.status != "at_risk", -s.current, s.label))[:MOST]:
            _streak(streak)
        if not begun:
            st.text("No streak runs now. A task done, a meal logged or enough water begins one.")
        _open("insights")


def _goal(goal: Goal) -> None:
    st.text(goal.title)
    st.progress(min(1.0, max(0.0, goal.percent / 100)), text=f"{cards.progress_words(goal)} · {goal.target.period}")


def _order(goal: Goal) -> tuple[int, str]:
    return ("day", "week", "month").index(goal.target.period), goal.title


def _streak(streak: Streak) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        st.text(streak.label, width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            st.caption(f"{formats.plural(streak.current, 'day')}, record {streak.longest}", width="content")
            st.badge(WORDS[streak.status], color=COLOURS[streak.status])  # type: ignore[arg-type]


def _open(name: str) -> None:
    there = place(name)
    st.page_link(there.path, label=f"Open {there.title}", icon=there.icon)
