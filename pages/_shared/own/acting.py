"""What the pages of the own day change: once for each decision, as the one who is here, and with its way back.

Callbacks run before the page is drawn. A double click is one decision: within half a second the same press counts once,
and a new record has the id that was made when its form was drawn.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.access import require
from core.errors import CoreError
from core.events import run_as
from pages._shared import session
from pages._shared.feedback import boundary
from pages._shared.resources import core

DOUBLE_CLICK_S = 0.5
SAID = "desk.own.said"
PRESSED = "desk.own.pressed"
Step = tuple[Any, ...]  # room of the records, name of its function, arguments


@dataclass(frozen=True)
class Said:
    """What came of the last press on a page; `undo` takes it back."""

    ok: bool
    words: str
    undo: Step | None = None


def token(name: str) -> str:
    """The id of what a form makes next."""
    key = f"desk.own.token.{name}"
    return str(st.session_state.setdefault(key, str(uuid.uuid4())))


def press(page: str, what: str, do: Callable[[], Said | None], *, key: str | None = None, form: str = "") -> None:
    """Do it once and keep what there is to say. `key` names the decision, `form` the token that it uses up."""
    now, last = time.monotonic(), st.session_state.get(PRESSED)
    mark = key or what
    if last is not None and last[0] == mark and now - last[1] < DOUBLE_CLICK_S:
        return
    st.session_state[PRESSED] = (mark, now)
    with boundary(what):
        try:
            actor = session.actor()
            require(actor, "own_day_change")
            with run_as(actor):
                said = do()
        except CoreError as error:
            said = Said(False, f"{error.what} {error.hint}".strip())
        else:
            if form:
                st.session_state.pop(f"desk.own.token.{form}", None)
        if said is not None:
            st.session_state[f"{SAID}.{page}"] = said


def call(step: Step) -> Any:
    """Run a function of the records by its name."""
    room, name, *given = step
    return getattr(getattr(core().companion.records, room), name)(*given)


def undo(page: str, said: Said) -> None:
    """Take the last action back; a second press finds nothing left to take back."""

    def back() -> Said:
        assert said.undo is not None
        call(said.undo)
        return Said(True, "Taken back.")

    press(page, "Undo", back, key=f"undo-{said.undo}")


def show(page: str) -> None:
    """The last action of this page, as plain text, and its undo."""
    said: Said | None = st.session_state.get(f"{SAID}.{page}")
    if said is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"said-{page}"):
        st.badge("done" if said.ok else "not done", color="green" if said.ok else "red")
        st.text(said.words, width="stretch")
        if said.undo is not None:
            st.button("Undo", key=f"undo-{page}", icon=":material/undo:", on_click=undo, args=(page, said))
