"""The routines as cards, what can be done with each, and the templates."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.companion.converse.rituals.ritual import Ritual
from pages._shared import formats, parts, session
from pages._shared.companion import mind
from pages._shared.feedback import empty, stale
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import outcome
from pages._shared.reads import Read
from pages._shared.routines import composing, editor, reading
from pages._shared.zone import my_zone

ACROSS = 3
UNDONE = "routine-undo"
DONE = {
    "active": "active again",
    "paused": "paused",
    "archived": "archived",
    "deleted": "deleted",
    "restored": "back again",
}
LOOK = """<style>
div[class*="st-key-routine-title-"] [data-testid="stText"] { font-weight: 600; white-space: pre-wrap;
  overflow-wrap: anywhere; }
</style>"""


def show(read: Read[tuple[Ritual, ...]]) -> None:
    stale(read)
    found = read.value
    if found:
        latest = [ritual.today for ritual in found if ritual.today]
        figures(
            Figure("Active", str(sum(ritual.status == "active" for ritual in found)), "Routines that can be started."),
            Figure("In progress", str(sum(ritual.running is not None for ritual in found)), "Begun and not over."),
            Figure("Completed today", str(sum(run.status == "completed" for run in latest)), "With every step done."),
        )
    with st.container(horizontal=True, gap="small"):
        parts.button(
            "change_rituals",
            "Make a routine",
            icon=":material/add:",
            key="routine-new",
            on_click=editor.begin,
            args=(None,),
        )
        parts.button(
            "change_rituals", "Put one together", icon=":material/auto_awesome:", key="routine-compose",
            on_click=composing.begin,
            help="By a model where one may and can, else by rules; you see it before it is saved.",
        )  # fmt: skip
        _undo_button()
    if not found:
        empty(
            "No routine yet",
            "A routine is a list of steps: figures to look at, things to note, checks to tick. Choose a template below "
            "or make one of your own.",
        )
        return
    st.html(LOOK)
    for start in range(0, len(found), ACROSS):
        for cell, ritual in zip(st.columns(ACROSS), found[start : start + ACROSS], strict=False):
            with cell, st.container(border=True, height="stretch", gap="xsmall", key=f"routine-card-{ritual.id}"):
                _card(ritual)


@parts.only("change_rituals")
def templates(found: Sequence[Ritual]) -> None:
    """One click makes one; a template whose routine is there stays offered, as it may be wanted anew."""
    used = {ritual.template_id for ritual in found if ritual.status != "archived"}
    says = "One click makes the routine; it can be changed afterwards."
    with panel("Templates", says), st.container(horizontal=True, gap="small"):
        for template in reading.room().rituals.templates:
            st.button(
                template.title,
                key=f"routine-template-{template.id}",
                icon=":material/check:" if template.id in used else ":material/add:",
                disabled=template.id in used,
                help="There already."
                if template.id in used
                else f"{template.description} {formats.plural(len(template.steps), 'step')}.",
                on_click=_add,
                args=(template.id, template.title),
            )


def _card(ritual: Ritual) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"routine-title-{ritual.id}"):
        st.text(ritual.title)
        st.badge(reading.TRIGGERS[ritual.trigger], color="gray")
        if ritual.status != "active":
            st.badge(ritual.status, color="gray")
    if ritual.description:
        st.text(ritual.description)
    st.caption(f"{formats.plural(len(ritual.steps), 'step')} · {_today(ritual)}")
    if ritual.running:
        st.progress(ritual.running.completed / ritual.running.total, text=_of(ritual))
    with st.container(horizontal=True, gap="small"):
        if ritual.status == "active":
            parts.button(
                "run_rituals", "Continue" if ritual.running else "Start",
                key=f"routine-start-{ritual.id}", type="primary", icon=":material/play_arrow:",
                on_click=reading.start, args=(ritual,),
            )  # fmt: skip
        else:
            _button(ritual, "Resume", "active", ":material/play_arrow:")
        parts.button(
            "change_rituals",
            "Edit",
            key=f"routine-edit-{ritual.id}",
            icon=":material/edit:",
            on_click=editor.begin,
            args=(ritual,),
        )
        with st.popover("More", icon=":material/more_horiz:"):
            st.button("Look at it", key=f"routine-look-{ritual.id}", on_click=reading.go, args=(ritual.id,))
            if ritual.status == "active":
                _button(ritual, "Pause", "paused", ":material/pause:")
            if ritual.status != "archived":
                _button(ritual, "Archive", "archived", ":material/archive:")
            _button(ritual, "Delete", "deleted", ":material/delete:")


def _today(ritual: Ritual) -> str:
    run = ritual.today
    if run is None:
        return "in progress since an earlier day" if ritual.running else "not done today"
    if run.open:
        return f"begun at {formats.clock(run.started_at, my_zone())[:5]}"
    ended = formats.clock(run.ended_at or run.started_at, my_zone())[:5]
    return f"{reading.RUNS[run.status]} today at {ended}, {run.completed} of {run.total}"


def _of(ritual: Ritual) -> str:
    assert ritual.running is not None
    return f"{ritual.running.completed} of {formats.plural(ritual.running.total, 'step')} done"


def _button(ritual: Ritual, label: str, status: str, icon: str) -> None:
    parts.button(
        "change_rituals", label, key=f"routine-{status}-{ritual.id}", icon=icon, on_click=change, args=(ritual, status)
    )


def change(ritual: Ritual, status: str) -> None:
    """A callback; the way back is offered until something else is changed."""
    done = mind.attempt(ritual.title, lambda actor: reading.room().rituals.change_status(actor, ritual, status))
    if done is None:
        return
    if done.outcome == "unchanged":
        outcome.say("note", f"{ritual.title}: this was so already.")
        return
    outcome.say("done", f"{ritual.title}: {DONE[status]}.")
    back = None if status == "restored" else "restored" if status == "deleted" else done.before
    session.remember(UNDONE, (ritual, back) if back else None)


def _undo_button() -> None:
    kept = session.remembered(UNDONE, None)
    if kept is not None:
        st.button("Undo", key="routine-undo", icon=":material/undo:", on_click=_undo, args=kept)


def _undo(ritual: Ritual, status: str) -> None:
    change(ritual, status)
    session.remember(UNDONE, None)


def _add(template_id: str, title: str) -> None:
    made = mind.attempt(title, lambda actor: reading.room().rituals.add(actor, template_id))
    if made is not None:
        outcome.say("done", f"{title}: made.")
