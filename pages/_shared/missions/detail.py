"""One mission: what it is, what can be done with it, what it proposes, and its runs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

import streamlit as st

from core.companion.act.missions.mission import Mission
from core.companion.act.missions.rule_plans import RULE_PLANS
from core.errors import CoreError
from core.events import Actor
from pages._shared import formats, session
from pages._shared.companion import deciding, inbox
from pages._shared.feedback import boundary
from pages._shared.missions import editor, listing, reading, runs, words
from pages._shared.operations import outcome
from pages._shared.parts import only

UNDONE = "mission-undo"
DONE = {
    "active": "active again",
    "paused": "paused; it does not run by itself until it is resumed",
    "done": "completed",
    "archived": "archived",
    "deleted": "deleted",
    "restored": "back again",
}


def show(mission: Mission, now: datetime) -> None:
    with st.container(border=True, gap="small", key="mission-detail"):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", key=f"mission-title-shown-{mission.id}"
        ):
            st.text(mission.title)
            listing.badge(mission)
        st.text(mission.objective)
        if mission.concept:
            with st.expander("Concept"):
                st.text(mission.concept)
        st.caption(_facts(mission))
        _coming(mission)
        _buttons(mission, now)
        if mission.inputs:
            with st.expander(f"What it is told ({len(mission.inputs)})"):
                choices = reading.choices()
                for one in mission.inputs:
                    st.text(choices.get(one, f"{one.module}: not there any more, it is left out"))
    with boundary("The proposals"):
        _proposals(mission)
    with boundary("The runs"):
        runs.show(mission, now)


def undo() -> None:
    """The way back from the last change."""
    kept = session.remembered(UNDONE, None)
    if kept is not None:
        st.button("Undo", key="mission-undo", icon=":material/undo:", on_click=_undo, args=kept)


def _undo(mission: Mission, state: str) -> None:
    _change(mission, state)
    session.remember(UNDONE, None)


def _facts(mission: Mission) -> str:
    by = "a model" if mission.planner == "llm" else "rules"
    plan = RULE_PLANS.get(mission.template or "")
    label = f" ({plan.label})" if plan else ""
    tokens = f" · at most {mission.token_budget:,} tokens a day" if mission.planner == "llm" else ""
    return f"Planned by {by}{label}{tokens} · {formats.plural(mission.iterations, 'run', 'runs')}"


def _coming(mission: Mission) -> None:
    if mission.cadence.kind == "manual":
        st.caption("Runs by hand only.")
        return
    if mission.state != "active" or mission.next_run_at is None:
        st.caption(f"Runs {words.cadence(mission.cadence)} while it is active.")
        return
    room = reading.missions()
    first = mission.next_run_at
    later = mission.cadence.upcoming(first, room.zone, 2)
    coming = words.dates(at.astimezone(room.zone) for at in (first, *later))
    st.caption(f"Runs {words.cadence(mission.cadence)}. Next: {coming}.")


@only("change_missions")
def _buttons(mission: Mission, now: datetime) -> None:
    running = words.running(mission) and not words.lost(mission, now)
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Run now",
            key=f"mission-run-{mission.id}",
            type="primary",
            icon=":material/play_arrow:",
            disabled=running or mission.state != "active",
            on_click=_run,
            args=(mission,),
        )
        if mission.state == "active":
            _button(mission, "Pause", "paused", ":material/pause:")
        else:
            _button(mission, "Resume", "active", ":material/restart_alt:")
        st.button(
            "Edit", key=f"mission-edit-{mission.id}", icon=":material/edit:", on_click=editor.begin, args=(mission,)
        )
        with st.popover("End", icon=":material/flag:"):
            for label, state, icon in (
                ("Complete", "done", ":material/check:"),
                ("Archive", "archived", ":material/archive:"),
                ("Delete", "deleted", ":material/delete:"),
            ):
                if mission.state != state:
                    _button(mission, label, state, icon)


def _button(mission: Mission, label: str, state: str, icon: str) -> None:
    st.button(label, key=f"mission-{state}-{mission.id}", icon=icon, on_click=_change, args=(mission, state))


def _change(mission: Mission, state: str) -> None:
    """A callback; the way back is offered until something else is changed."""
    act: Callable[[Actor], bool] = lambda actor: reading.missions().change_state(actor, mission, state)  # noqa: E731
    done = reading.attempt(mission.title, act)
    if done is None:
        return
    if not done:
        outcome.say("note", f"{mission.title}: this was so already.")
        return
    outcome.say("done", f"{mission.title}: {DONE[state]}.")
    back = None if state == "restored" else "restored" if state == "deleted" else mission.state
    session.remember(UNDONE, (mission, back) if back else None)


def _run(mission: Mission) -> None:
    """A callback: begun beside, watched below."""
    begun = partial(reading.missions().start, mission.id)
    if reading.attempt(f"Run {mission.title}", lambda _: begun()) is not None:
        outcome.say("started", f"{mission.title}: the run began; its steps appear below.")


def _proposals(mission: Mission) -> None:
    try:
        read = deciding.proposals("open", None, mission.id)
    except CoreError:
        return  # its runs have the same fate, and say so
    inbox.cards(read.value.rows, read.at, with_module=True)
