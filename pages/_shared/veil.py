"""What of people is shown on a page: masked, until somebody lifts the veil from this view and says why.

A reveal belongs to one page and one dialog; leaving either ends it, as do fifteen minutes and the loss of the role.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from core.access import who_may
from core.access.masking.alias import Side
from core.errors import CoreError
from core.events import run_as
from core.services.veil import REASON, Reveal
from pages._shared import formats, session
from pages._shared.resources import core, settings
from pages._shared.sitemap import Place

T = TypeVar("T")
HERE = "desk.here"
REVEAL = "desk.reveal"
REFUSED = "desk.reveal.refused"
OPENED = "desk.opened"
# Pages that show people of the memory. What others say of it, as the companion does, stays masked.
SHOWING = frozenset({"overview", "dialogs", "search", "prompts", "tuning", "snapshots", "usage", "operations"})


def arrive(page: str) -> None:
    """A page was entered: what was lifted on another one is down again, and the look into a dialog is noted once."""
    if st.session_state.get(HERE) != page:
        st.session_state[HERE] = page
        st.session_state.pop(REVEAL, None)
    key = _dialog()
    if page == "dialogs" and key and st.session_state.get(OPENED) != key:
        core().veil.opened(key)
    st.session_state[OPENED] = key if page == "dialogs" else None


def revealed() -> bool:
    """Whether this view is shown unmasked."""
    lifted: Reveal | None = st.session_state.get(REVEAL)
    if lifted is None:
        return False
    with run_as(session.actor()):
        held = core().veil.holds(lifted, st.session_state.get(HERE, ""), _dialog())
    if not held:
        st.session_state.pop(REVEAL, None)
    return held


def cover(value: T, dialog_key: str | None = None) -> T:
    """Records as this view shows them. Errors: DatabaseError."""
    return value if revealed() else core().veil.cover(value, dialog_key)


def text(words: str, dialog_key: str | None = None) -> str:
    """A text as this view shows it. Errors: DatabaseError."""
    return words if revealed() else core().veil.text(words, dialog_key)


def person(side: Side, id: str | None) -> str | None:
    """The id of somebody, or the name that stands for it."""
    return id if not id or revealed() else core().veil.people.alias(side, id)


def pair(ru_id: str | None, tu_id: str | None) -> str:
    """Both people of a dialog in one line."""
    if revealed():
        return formats.pair(ru_id, tu_id)
    return " · ".join(person(side, id) or f"{side} unknown" for side, id in _sides(ru_id, tu_id))


def row(found: Any) -> Any:
    """A row of a table or a file with the ids of people as this view shows them."""
    if revealed():
        return found
    hidden = {name: person(side, found[name]) for name, side in IDS.items() if found.get(name)}
    return {**found, **hidden} if hidden else found


IDS: dict[str, Side] = {
    "ru_id": "RU", "tu_id": "TU", "client_id": "RU", "woman_id": "TU", "ruId": "RU", "tuId": "TU",
}  # fmt: skip


def control(here: Place) -> None:
    """In the head of a page: whether it is masked, and the way to lift that."""
    if here.name not in SHOWING:
        return
    lifted: Reveal | None = st.session_state.get(REVEAL)
    if lifted is not None and revealed():
        until = formats.clock(lifted.until, settings().zone)
        st.badge(f"Revealed until {until}", color="red", help="Recorded with your name and your reason.")
        st.button("Hide", key="hide-personal", type="tertiary", on_click=_hide)
        return
    with run_as(session.actor()):
        may = session.may("reveal")
    if not may:
        roles = " or ".join(who_may("reveal"))
        st.badge("Masked", color="gray", help=f"Personal data is not shown; a role that may reveal it: {roles}.")
        return
    with st.popover("Masked", icon=":material/visibility_off:", help="Names, addresses, numbers, ids, explicit words."):
        st.text("Shows this view as it is stored, for 15 minutes or until you leave it.")
        reason = st.text_input(
            "Why", key="reveal-reason", max_chars=REASON[1], placeholder="such as a ticket or a complaint"
        )
        st.caption("Recorded before anything is shown: who, which view, why.")
        st.button("Reveal", key="reveal-personal", type="primary", on_click=_reveal, args=(here.name, reason))
        if refused := st.session_state.pop(REFUSED, None):
            st.error(refused)


def exporting(what: str, rows: int) -> Callable[[], None]:
    """To be called when somebody takes a file away; it may run outside of the page's run. Errors: Forbidden."""
    actor, page, key, lifted = session.actor(), st.session_state.get(HERE, ""), _dialog(), revealed()

    def record() -> None:
        with run_as(actor):
            core().veil.exported(page, what, rows, key, revealed=lifted)

    return record


def _reveal(page: str, reason: str) -> None:
    try:
        with run_as(session.actor()):
            st.session_state[REVEAL] = core().veil.open(page, _dialog(), reason)
        st.session_state["reveal-reason"] = ""
    except CoreError as error:
        st.session_state[REFUSED] = str(error)


def _hide() -> None:
    st.session_state.pop(REVEAL, None)


def _dialog() -> str | None:
    chosen = session.dialog()
    return chosen.dialog_key if chosen else None


def _sides(ru_id: str | None, tu_id: str | None) -> tuple[tuple[Side, str | None], ...]:
    return (("RU", ru_id), ("TU", tu_id))
