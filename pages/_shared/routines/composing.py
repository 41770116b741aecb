"""A routine put together by a model or by rules: asked for, looked at, then saved or thrown away."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.companion.converse.rituals.generation import WISH_LIMIT, Composed
from core.companion.converse.rituals.rituals import TRIGGERS
from core.companion.converse.rituals.step import SOURCES, Step
from pages._shared import session
from pages._shared.companion import mind
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.resources import core
from pages._shared.routines import editor, reading, results

OPEN = "routine-composing"
MADE = "routine-composed"
TIERS = {"rules": "made by rules", "server": "made by the own server", "cloud": "made by Gemini"}


def is_open() -> bool:
    return bool(session.remembered(OPEN, False))


def begin() -> None:
    """A callback."""
    session.remember(OPEN, True)
    session.remember(MADE, None)


def close() -> None:
    """A callback."""
    session.remember(OPEN, False)
    session.remember(MADE, None)


def show() -> None:
    says = "Say what it is for, or leave it empty: then the parts in use and your goals decide. Nothing is saved yet."
    with panel("Put a routine together", says):
        st.text_area("What it is for", key="compose-wish", max_chars=WISH_LIMIT, height=90,
                     placeholder="For example: a morning check of sync, tokens and tasks")  # fmt: skip
        st.segmented_control("When", list(TRIGGERS), default="morning", key="compose-trigger", required=True,
                             format_func=reading.TRIGGERS.__getitem__)  # fmt: skip
        ready = [
            state.tier for state in core().companion.router.states() if state.tier != "rules" and state.state == "ready"
        ]
        says = "Asks no model." if ready else "No model is ready: the rules put it together anyway."
        st.checkbox("By rules only", key="compose-rules", disabled=not ready, help=says)
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Put together", key="compose-go", type="primary", icon=":material/auto_awesome:", on_click=propose
            )
            st.button("Cancel", key="compose-cancel", on_click=close)
    made: Composed | None = session.remembered(MADE, None)
    if made is not None:
        with st.container(key="composed"):
            _preview(made)


def propose() -> None:
    """A callback; the answer is a preview."""
    wish = st.session_state.get("compose-wish") or ""
    trigger: Any = st.session_state.get("compose-trigger") or "manual"
    by_rules = bool(st.session_state.get("compose-rules"))
    made = mind.attempt(
        "Put together", lambda actor: reading.room().generator.propose(actor, wish, trigger, by_rules=by_rules)
    )
    if made is not None:
        session.remember(MADE, made)


def save(made: Composed) -> None:
    """A callback; pressed twice it is one routine, by its id."""
    if mind.attempt(made.ritual.title, lambda actor: reading.room().rituals.save(actor, made.ritual)) is not None:
        outcome.say("done", f"{made.ritual.title}: made.")
        close()


def change_first(made: Composed) -> None:
    """A callback."""
    close()
    editor.begin(made.ritual)


def words(step: Step) -> str:
    """What a step does, in a line."""
    tool = core().companion.act.toolbox.find(step.tool or "")
    name = tool.label if tool else step.tool
    fixed = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in step.base.items())
    kind = {
        "tool_call": f"Runs: {name}",
        "number_input": f"Asks for a number: {name}",
        "text_input": f"Asks for a text: {name}",
        "mood_picker": f"Asks for 1 to 5: {name}",
        "info_display": f"Shows: {SOURCES.get(str(step.config.get('source')), 'an unknown source')}",
        "checklist": f"To tick: {', '.join(item['label'] for item in step.items)}",
    }[step.type]
    return f"{kind} ({fixed})" if fixed else kind


def _preview(made: Composed) -> None:
    with panel("Preview", "This is what would be saved."):
        st.html(results.LOOK)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="routine-title-preview"):
            st.text(made.ritual.title)
            st.badge(reading.TRIGGERS[made.ritual.trigger], color="gray")
            st.badge(TIERS[made.tier], color="gray" if made.tier == "rules" else "violet")
        if made.model:
            st.text(f"Model: {made.model}")
        for note in made.notes:
            st.text(note)
        if made.ritual.description:
            st.text(made.ritual.description)
        steps = [(f"{n}. {step.label}", words(step)) for n, step in enumerate(made.ritual.steps, start=1)]
        results.lines(steps, key="preview", width=260)
        with st.container(horizontal=True, gap="small"):
            st.button("Save", key="composed-save", type="primary", on_click=save, args=(made,))
            st.button(
                "Change it first", key="composed-edit", icon=":material/edit:", on_click=change_first, args=(made,)
            )
            st.button(
                "Throw away", key="composed-discard", type="tertiary", on_click=session.remember, args=(MADE, None)
            )
