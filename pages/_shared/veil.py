"""What of people is shown on a page: masked, until somebody lifts the veil from this view and says why.

A view is a page and the dialog, or the record, that it shows; leaving either ends a reveal, as do fifteen minutes and
the loss of the role. A reveal of one dialog shows nothing of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

import streamlit as st

from core.access import permit
from core.access.masking.alias import Side
from core.errors import CoreError, Forbidden
from core.events import run_as
from core.services.veil import Reveal, View
from pages._shared import address, session
from pages._shared.resources import core

T = TypeVar("T")
HERE = "desk.here"
REVEAL = "desk.reveal"
OPENED = "desk.opened"
WITHHELD = "[id]"
PEOPLE: dict[str, Side] = {
    "ru_id": "RU", "tu_id": "TU", "client_id": "RU", "woman_id": "TU", "ruId": "RU", "tuId": "TU",
}  # fmt: skip


def arrive(page: str) -> None:
    """A page was entered: what was lifted on another one is down again, and the look into a dialog is noted once."""
    if st.session_state.get(HERE) != page:
        st.session_state[HERE] = page
        hide()
    key = _dialog() if page == "dialogs" else None
    if key and st.session_state.get(OPENED) != key:
        try:
            core().veil.opened(key)
        except CoreError:
            return  # nothing of it is shown either
    st.session_state[OPENED] = key


def view() -> View:
    """What this run shows. Of a page that lists many dialogs none is the one that is looked at."""
    page = st.session_state.get(HERE, "")
    if page == "prompts":
        record = _record(st.query_params.get("record"))
        return View(page, None if record or not session.remembered("prompts-only", False) else _dialog(), record)
    one = page in ("dialogs", "snapshots") or (page == "search" and address.given("scope") != "all")
    return View(page, _dialog() if one else None)


def lifted() -> Reveal | None:
    """The reveal of this view, while it holds."""
    found: Reveal | None = st.session_state.get(REVEAL)
    if found is None:
        return None
    with run_as(session.actor()):
        held = core().veil.holds(found, view())
    if not held:
        hide()
    return found if held else None


def lift(reason: str) -> None:
    """Record it, then show this view as it is stored. Errors: Forbidden, InputError, DatabaseError."""
    with run_as(session.actor()):
        st.session_state[REVEAL] = core().veil.open(view(), reason)


def hide() -> None:
    st.session_state.pop(REVEAL, None)


def revealed(dialog_key: str | None = None) -> bool:
    """Whether what belongs to a dialog, or to none, is shown as it is stored."""
    found = lifted()
    return found is not None and found.view.dialog_key in (None, dialog_key)


def cover(value: T, dialog_key: str | None = None) -> T:
    """Records as this view shows them. Errors: DatabaseError."""
    found = lifted()
    if found is not None and found.view.dialog_key is None:
        return value
    return core().veil.cover(value, dialog_key, but=found.view.dialog_key if found else None)


def text(words: str, dialog_key: str | None = None) -> str:
    """A text as this view shows it. Errors: DatabaseError."""
    return words if revealed(dialog_key) else core().veil.text(words, dialog_key)


def shower(dialog_key: str | None) -> Callable[[str], str]:
    """The same for many texts of one dialog; its people are asked for once. Errors: DatabaseError."""
    return str if revealed(dialog_key) else core().veil.people.mask(dialog_key).text


def person(side: Side, id: str | None) -> str | None:
    """The id of somebody, or the name that stands for it. Errors: DatabaseError."""
    return id if not id or _named(id) else core().veil.people.alias(side, id)


def pair(ru_id: str | None, tu_id: str | None) -> str:
    """Both people of a dialog in one line."""
    shown = [(side, id, person(side, id)) for side, id in (("RU", ru_id), ("TU", tu_id))]  # type: ignore[arg-type]
    return " · ".join(name if name and name != id else f"{side} {id or 'unknown'}" for side, id, name in shown)


def row(found: Any) -> Any:
    """A row of a table or a file with the ids of people as this view shows them."""
    hidden: dict[str, Any] = {name: person(side, found[name]) for name, side in PEOPLE.items() if found.get(name)}
    favorite = found.get("favorite_id")
    if favorite and favorite != found.get("dialog_key") and not revealed(found.get("dialog_key")):
        hidden["favorite_id"] = WITHHELD
    return {**found, **hidden} if hidden else found


def taking(what: str) -> Callable[[Callable[[], tuple[bytes, int]]], bytes]:
    """For the click on a file, outside of the page's run: asks whether whoever is here still may have it, has it made,
    and records it with its rows. Errors: Forbidden; also where a reveal that the file would show is over."""
    asking, seen, shown = session.later(), view(), lifted()

    def take(make: Callable[[], tuple[bytes, int]]) -> bytes:
        with run_as(asking()):
            permit("export")
            if shown is not None and not core().veil.holds(shown, seen):
                raise Forbidden("What was revealed here is masked again.", hint="Reload the page.")
            file, rows = make()
            core().veil.exported(seen, what, rows, revealed=shown is not None)
        return file

    return take


def _named(id: str) -> bool:
    """Whether the id of a person is shown: all of them, or those of the dialog that was revealed."""
    found, chosen = lifted(), session.dialog()
    if found is None:
        return False
    return found.view.dialog_key is None or (chosen is not None and id in (chosen.ru_id, chosen.tu_id))


def _record(given: str | None) -> str | None:
    """The id in the address, where it can be one."""
    try:
        return str(UUID(given)) if given else None
    except ValueError:
        return None


def _dialog() -> str | None:
    chosen = session.dialog()
    return chosen.dialog_key if chosen else None
