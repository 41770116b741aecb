"""What an action of the Operations page came to: said once, above the section; and the key of each drawn form."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.errors import CoreError
from core.jobs import JobRunning
from pages._shared import session
from pages._shared.feedback import boundary

T = TypeVar("T")
SAID = "desk.operations.said"


def form_id(name: str) -> str:
    """The key of a form, made when it was first drawn: pressed twice, it is one decision."""
    kept = session.remembered(f"form.{name}", None)
    if kept is None:
        kept = str(uuid.uuid4())
        session.remember(f"form.{name}", kept)
    return str(kept)


def new_form(name: str) -> None:
    """What is decided next is another decision."""
    session.remember(f"form.{name}", None)


def attempt(what: str, action: Callable[[], T]) -> T | None:
    """Do it and say why it failed, if it does; for callbacks, which run before the page is drawn."""
    with boundary(what):
        try:
            return action()
        except JobRunning as busy:
            job = busy.job
            done = f"{job.done:,} of {job.total:,} done" if job.total else job.state
            say("warning", f"{what}: this runs already ({done}). Nothing was started.")
        except CoreError as error:
            say("error", f"{what}: {error.what} {error.hint}".strip())
    return None


def say(kind: str, words: str) -> None:
    """`kind`: started, done, note, warning or error; shown with the next drawing of the page."""
    st.session_state.setdefault(SAID, []).append((kind, words))


def show() -> None:
    """Everything said since the last drawing, as plain text."""
    for kind, words in st.session_state.pop(SAID, []):
        colour = {"started": "blue", "done": "green", "warning": "orange", "error": "red"}.get(kind, "gray")
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.badge(kind, color=colour)  # type: ignore[arg-type]
            st.text(words)
