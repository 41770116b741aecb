"""What the Routines page reads, and which routine is open: its id stands in the address, so that a reload finds it."""

from __future__ import annotations

import streamlit as st

from core.companion.converse.rituals.opening import Routines
from core.companion.converse.rituals.ritual import Ritual
from core.companion.converse.rituals.store import RunPage
from core.errors import NotFound
from pages._shared import reads, session
from pages._shared.companion import mind
from pages._shared.operations import outcome
from pages._shared.reads import Read
from pages._shared.resources import core

ROUTINE = "routine"
RUN = "routine-run"  # the run that this tab has in hand, also when it is over
PAGE = 15
TRIGGERS = {"morning": "morning", "evening": "evening", "manual": "any time"}
RUNS = {"running": "in progress", "completed": "completed", "ended": "ended", "aborted": "aborted"}
COLOURS = {"running": "blue", "completed": "green", "ended": "orange", "aborted": "gray"}


def room() -> Routines:
    return core().companion.routines


def rituals() -> Read[tuple[Ritual, ...]]:
    """Asked each time: another tab may have gone a step further."""
    built = core()
    return reads.standing(("routines",), lambda: Read(room().rituals.list(), built.clock.now()))


def runs(page: int) -> RunPage:
    """Errors: CoreError."""
    return room().rituals.runs(limit=PAGE, offset=(page - 1) * PAGE)


def opened() -> Ritual | None:
    """The routine of the address; one that is gone is said, and the list stands there instead. Errors: CoreError."""
    given = st.query_params.get(ROUTINE)
    if not given:
        return None
    try:
        return room().rituals.get(given)
    except NotFound as gone:
        close()
        outcome.say("note", str(gone))
        outcome.show()
        return None


def go(ritual_id: str) -> None:
    """A callback: this routine is in hand."""
    st.query_params[ROUTINE] = ritual_id


def close() -> None:
    """A callback: back to the list."""
    if ROUTINE in st.query_params:
        del st.query_params[ROUTINE]


def start(ritual: Ritual) -> None:
    """A callback: begin a run, or join the one that is under way. The press twice is one run."""
    press = outcome.form_id(f"start-{ritual.id}")
    run = mind.attempt(ritual.title, lambda actor: room().runner.start(actor, ritual, press))
    if run is None:
        return
    if run.id != press:
        outcome.say("note", f"{ritual.title}: this run is under way already; you have joined it.")
    outcome.new_form(f"start-{ritual.id}")
    session.remember(RUN, run.id)
    go(ritual.id)
