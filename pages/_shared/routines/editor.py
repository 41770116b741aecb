"""The editor of a routine: title, when, and its steps, which can be added, changed, moved and taken out."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.companion.converse.rituals.ritual import Ritual
from core.companion.converse.rituals.rituals import DESCRIPTION_LIMIT, TITLE_LIMIT, TRIGGERS, drafted, explain
from core.companion.converse.rituals.step import STEPS_MOST
from core.errors import InputError
from pages._shared import session
from pages._shared.companion import mind
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.routines import reading, step_form

DRAFT = "routine-draft"
FAULT = "routine-fault"


@dataclass(frozen=True)
class Draft:
    """What is edited; `forms` are the steps as their fields hold them, each with an id that its fields are known by."""

    ritual: Ritual
    forms: tuple[dict[str, Any], ...]


def is_open() -> bool:
    return session.remembered(DRAFT, None) is not None


def begin(ritual: Ritual | None) -> None:
    """A callback: the form with the values of a routine, or an empty one."""
    given = ritual or drafted("", "manual", ())
    session.remember(DRAFT, Draft(given, tuple(_form(step.as_json()) for step in given.steps)))
    session.remember(FAULT, None)


def close() -> None:
    """A callback."""
    session.remember(DRAFT, None)
    session.remember(FAULT, None)


def show() -> None:
    draft: Draft = session.remembered(DRAFT, None)
    ritual, key = draft.ritual, draft.ritual.id
    fault: tuple[str, str] | None = session.remembered(FAULT, None)
    says = "Nothing is changed before it is saved. Saving a change closes a run that is under way."
    with panel("Change a routine" if ritual.version else "Make a routine", says):
        left, right = st.columns([3, 2])
        left.text_input("Title", ritual.title, key=f"{key}-title", max_chars=TITLE_LIMIT)
        right.segmented_control("When", list(TRIGGERS), default=ritual.trigger, key=f"{key}-trigger", required=True,
                                format_func=reading.TRIGGERS.__getitem__)  # fmt: skip
        st.text_input("Description", ritual.description or "", key=f"{key}-description", max_chars=DESCRIPTION_LIMIT)
    for number, form in enumerate(draft.forms, start=1):
        with st.container(border=True, gap="small", key=f"routine-form-{number}"), boundary(f"Step {number}"):
            _head(draft, number, form)
            if fault and fault[0].split(".")[:2] == ["steps", str(number)]:
                with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                    st.badge("fault", color="red")
                    st.text(fault[1], width="stretch")
            step_form.fields(form)
    _add(draft)
    if fault:
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small", key="routine-fault"):
            st.badge("not saved", color="red")
            st.text(fault[1], width="stretch")
    with st.container(horizontal=True, gap="small"):
        st.button("Save", key="routine-save", type="primary", on_click=save)
        st.button("Cancel", key="routine-cancel", on_click=close)


def save() -> None:
    """A callback; a fault names its step and field, and the form stays."""
    draft = collect()
    key = draft.ritual.id
    ritual = replace(
        draft.ritual,
        title=st.session_state.get(f"{key}-title", ""),
        trigger=st.session_state.get(f"{key}-trigger") or "manual",
        description=st.session_state.get(f"{key}-description") or None,
        steps=tuple({name: form[name] for name in ("type", "label", "config")} for form in draft.forms),  # type: ignore[misc]
    )
    try:
        ritual = reading.room().rituals.check(ritual)
    except InputError as fault:
        session.remember(FAULT, (fault.field or "", f"{explain(fault.field)}: {fault}"))
        return
    session.remember(FAULT, None)
    done = mind.attempt(ritual.title, lambda actor: reading.room().rituals.save(actor, ritual))
    if done is None:
        return
    aborted = " The run that was under way is closed." if done.aborted else ""
    outcome.say("done", f"{ritual.title}: {'changed' if ritual.version else 'made'}.{aborted}")
    close()


def collect() -> Draft:
    """The draft with what stands in the fields now: before anything moves."""
    draft: Draft = session.remembered(DRAFT, None)
    kept = Draft(draft.ritual, tuple(step_form.collected(form) for form in draft.forms))
    session.remember(DRAFT, kept)
    return kept


def move(at: int, by: int) -> None:
    """A callback: a step one place up or down."""
    draft = collect()
    forms = list(draft.forms)
    to = at + by
    if 0 <= at < len(forms) and 0 <= to < len(forms):
        forms[at], forms[to] = forms[to], forms[at]
    _keep(draft, forms)


def drop(at: int) -> None:
    """A callback."""
    draft = collect()
    _keep(draft, [form for place, form in enumerate(draft.forms) if place != at])


def add() -> None:
    """A callback: a step of the chosen kind, at the end."""
    draft = collect()
    kind = st.session_state.get(f"{draft.ritual.id}-kind") or "info_display"
    _keep(draft, [*draft.forms, _form({"type": kind, "label": "", "config": {}})])


def _keep(draft: Draft, forms: list[dict[str, Any]]) -> None:
    session.remember(DRAFT, Draft(draft.ritual, tuple(forms)))
    session.remember(FAULT, None)  # its number may be another step's now


def _form(step: dict[str, Any]) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), **step}


def _head(draft: Draft, number: int, form: dict[str, Any]) -> None:
    at = number - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge(str(number), color="gray")
        st.text(step_form.KINDS[form["type"]], width="stretch")
        for label, icon, by, off in (
            ("Up", ":material/arrow_upward:", -1, at == 0),
            ("Down", ":material/arrow_downward:", 1, number == len(draft.forms)),
        ):
            st.button(label, key=f"routine-{label.lower()}-{form['id']}", icon=icon, type="tertiary", disabled=off,
                      on_click=move, args=(at, by))  # fmt: skip
        st.button("Take out", key=f"routine-out-{form['id']}", icon=":material/delete:", type="tertiary",
                  on_click=drop, args=(at,))  # fmt: skip


def _add(draft: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox("Another step", list(step_form.KINDS), key=f"{draft.ritual.id}-kind", width=260,
                     format_func=step_form.KINDS.__getitem__)  # fmt: skip
        st.button("Add it", key="routine-add", icon=":material/add:", on_click=add,
                  disabled=len(draft.forms) >= STEPS_MOST)  # fmt: skip
