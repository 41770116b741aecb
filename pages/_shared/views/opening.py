"""A link to a view: its id in the address, and nothing else. Whoever opens it sees what their role shows, masked."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import streamlit as st

from core.errors import CoreError
from core.events import run_as
from core.services.view_store import Opened
from pages._shared import session
from pages._shared.resources import core
from pages._shared.views import state

VIEW = "view"  # several pages have a code of this name; an id looks like none of them
SHOWN = "desk.views.shown"
REFUSED = "desk.views.refused"


def wanted() -> str | None:
    """The id in the address, where it is one."""
    given = st.query_params.get(VIEW, "")
    try:
        return str(UUID(given)) if len(given) == 36 else None
    except ValueError:
        return None


def arrive(page: str) -> None:
    """Open the view of the address, if there is one: the page then runs anew with its state.

    One that is gone, or that is not for them, leaves the page as it is, and the head says why.
    Errors: DatabaseError that may pass; the page then waits for it, so that no widget of it has a value of its own.
    """
    kept = st.session_state.get(SHOWN)
    if kept is not None and kept[0] != page:
        del st.session_state[SHOWN]
    id = wanted()
    if id is None:
        return
    st.session_state.pop(SHOWN, None)
    if page not in state.PAGES:
        _refuse("This page keeps no views.")
        return
    try:
        with run_as(session.actor()):
            _apply(page, core().views.open(page, id))
    except CoreError as error:
        if error.retryable:
            raise
        _refuse(str(error))
        return
    st.rerun()


def _apply(page: str, opened: Opened) -> None:
    kept, found = state.PAGES[page], state.known(page, opened.state)
    if opened.masked:  # masked words would find something else
        found = replace(found, plain={k: v for k, v in found.plain.items() if k != state.ASK_NOW})
    for name in (*kept.plain, *kept.texts):
        if name in st.session_state:
            del st.session_state[name]
    for name, value in (*found.plain.items(), *found.texts.items()):
        st.session_state[name] = value
    if kept.dialog:
        session.choose_dialog(_dialog(found.dialog_key))
    session.keep_exploration(None)
    st.session_state[SHOWN] = (page, opened)
    st.query_params.from_dict({**found.address})


def _dialog(key: str | None) -> session.DialogChoice | None:
    if key is None:
        return None
    row = core().dialogs.get(key)
    return session.DialogChoice(key, row.ru_id, row.tu_id) if row else session.DialogChoice(key)


def _refuse(why: str) -> None:
    st.session_state[REFUSED] = why
    st.query_params.pop(VIEW, None)
