"""A goal as a card: how far it is, what is left, the periods before, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

from core.companion.reflect.goals.goal import Goal, GoalPeriod
from pages._shared import session
from pages._shared.companion import mind
from pages._shared.goals import editor
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.resources import settings

ACROSS = 3
COLOURS = {"active": "blue", "paused": "gray", "completed": "green", "abandoned": "gray"}
UNDONE = "goal-undo"
DONE = {
    "paused": "paused; it does not move until it is resumed",
    "active": "active again",
    "completed": "completed",
    "abandoned": "abandoned",
    "deleted": "deleted",
    "restored": "back again",
}
LOOK = """<style>
div[class*="st-key-goal-title-"] [data-testid="stText"] { font-weight: 600; white-space: pre-wrap;
  overflow-wrap: anywhere; }
</style>"""


def show(goals: Sequence[Goal], today: date) -> None:
    """In rows of three, two or one by the width of the page."""
    st.html(LOOK)
    undo()
    for start in range(0, len(goals), ACROSS):
        for cell, goal in zip(st.columns(ACROSS), goals[start : start + ACROSS], strict=False):
            with cell, st.container(border=True, height="stretch", gap="xsmall", key=f"goal-card-{goal.id}"):
                card(goal, today)


def card(goal: Goal, today: date) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"goal-title-{goal.id}"):
        st.text(goal.title)
        st.badge(_state(goal), color=_colour(goal))  # type: ignore[arg-type]
    if goal.description:
        st.text(goal.description)
    st.caption(f"{period_words(goal, today)} · {goal.module}")
    st.progress(min(1.0, max(0.0, goal.percent / 100)), text=progress_words(goal))
    if goal.zone != settings().time_zone:
        st.caption(f"This period is counted in the zone {goal.zone}, in which it began.")
    _history(goal)
    _buttons(goal)


def period_words(goal: Goal, today: date) -> str:
    if goal.status != "active":
        return f"the {goal.target.period} of {goal.start:%-d %b}"
    if goal.target.period == "day":
        return "today" if goal.start == today else f"the day {goal.start:%-d %b}"
    left = (goal.end - today).days
    ends = "ends today" if left == 0 else f"{left} {'day' if left == 1 else 'days'} left"
    return f"this {goal.target.period} from {goal.start:%-d %b}, {ends}"


def progress_words(goal: Goal) -> str:
    """Value, target, and what is missing or left."""
    target = figure(goal.target.value)
    if goal.value is None:
        return f"not known yet, the target is {target}"
    value, remaining = figure(goal.value), figure(abs(goal.remaining))
    if goal.target.comparison == "eq":
        return f"{value}, to be exactly {target} at the end"
    if goal.target.comparison == "lte":
        return f"{value} of at most {target}, {remaining} {'over' if goal.remaining < 0 else 'left'}"
    return f"{value} of {target}" + (f", {remaining} to go" if goal.remaining > 0 else "")


def figure(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _state(goal: Goal) -> str:
    if goal.status != "active":
        return goal.status
    if goal.target.comparison == "lte":
        return "exceeded" if goal.remaining < 0 else "within"
    return "reached" if goal.reached else "active"


def _colour(goal: Goal) -> str:
    state = _state(goal)
    return {"exceeded": "red", "within": "green", "reached": "green"}.get(state, COLOURS[goal.status])


def _history(goal: Goal) -> None:
    known = [period for period in goal.history if period.value is not None]
    if not known:
        st.caption("No earlier period yet.")
        return
    judged = [period for period in goal.history if period.reached is not None]
    reached = sum(bool(period.reached) for period in judged)
    st.metric(
        "Earlier periods reached",
        f"{reached} of {len(judged)}",
        chart_data=[period.value or 0.0 for period in known],
        chart_type="bar",
        help=_periods(goal.history),
    )


def _periods(history: Sequence[GoalPeriod]) -> str:
    lines = []
    for period in history[-10:]:
        value = "not known" if period.value is None else figure(period.value)
        judged = "" if period.reached is None else ", reached" if period.reached else ", not reached"
        lines.append(f"{period.start:%-d %b}: {value}{judged}")
    return "  \n".join(reversed(lines))


@only("change_goals")
def _buttons(goal: Goal) -> None:
    with st.container(horizontal=True, gap="small"):
        if goal.status == "active":
            _button(goal, "Pause", "paused", ":material/pause:")
        else:
            _button(goal, "Resume", "active", ":material/play_arrow:")
        st.button("Edit", key=f"goal-edit-{goal.id}", icon=":material/edit:", on_click=editor.begin, args=(goal,))
        with st.popover("End", icon=":material/flag:"):
            if goal.status != "completed":
                _button(goal, "Complete", "completed", ":material/check:")
            if goal.status != "abandoned":
                _button(goal, "Abandon", "abandoned", ":material/block:")
            _button(goal, "Delete", "deleted", ":material/delete:")


def _button(goal: Goal, label: str, status: str, icon: str) -> None:
    st.button(label, key=f"goal-{status}-{goal.id}", icon=icon, on_click=change, args=(goal, status))


def change(goal: Goal, status: str) -> None:
    """A callback; the way back is offered until something else is changed."""
    done = mind.attempt(goal.title, lambda actor: mind.mind().goals.change_status(actor, goal, status))
    if done is None:
        return
    if done.outcome == "unchanged":
        outcome.say("note", f"{goal.title}: this was so already.")
        return
    outcome.say("done", f"{goal.title}: {DONE[status]}.")
    back = None if status == "restored" else "restored" if status == "deleted" else goal.status
    session.remember(UNDONE, (goal, back) if back else None)


@only("change_goals")
def undo() -> None:
    """The way back from the last change."""
    kept = session.remembered(UNDONE, None)
    if kept is None:
        return
    goal, back = kept
    st.button("Undo", key="goal-undo", icon=":material/undo:", on_click=_undo, args=(goal, back))


def _undo(goal: Goal, status: str) -> None:
    change(goal, status)
    session.remember(UNDONE, None)
