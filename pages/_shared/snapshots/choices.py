"""What is looked at: which view, which dialog, which entity. Views and days stand in the address, ids never do."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

import streamlit as st

from pages._shared import address, formats, session, veil
from pages._shared.literal import literal
from pages._shared.session import DialogChoice

VIEWS = {"coverage": "Coverage", "day": "One day", "compare": "Two days", "history": "History", "expiry": "Expiry"}
ENTITY = "snapshot-entity"
GO = "snapshots-go"


class Entity(NamedTuple):
    """The identity of an entity over all days."""

    dialog_key: str
    entity_type: str
    source_role: str
    source_id: str

    @property
    def label(self) -> str:
        return f"{self.entity_type} {self.source_role or self.source_id}".strip()


def view() -> str:
    """The view in hand; one that a click asked for wins."""
    if wanted := session.remembered(GO, None):
        session.remember(GO, None)
        for key, value in wanted.items():
            st.session_state[key] = value
    return address.segments("View", VIEWS, "view", default="coverage", labelled=False)


def day(label: str, key: str, default: date) -> date:
    """A day, in the address under its key; the default is left out there."""
    if key not in st.session_state and key not in st.query_params:
        st.session_state[key] = default
    given = st.date_input(label, key=key, format="YYYY-MM-DD", width=160, bind="query-params")
    return given if isinstance(given, date) else default


def go(name: str, **values: Any) -> None:
    """Show another view in the next run, with other values in its widgets: for clicks on rows."""
    session.remember(GO, {"view": name, **values})
    st.rerun()


def entity() -> Entity | None:
    kept = session.remembered(ENTITY, None)
    return Entity(*kept) if kept else None


def look_at(chosen: Entity) -> None:
    """A callback: the history of this entity."""
    session.remember(ENTITY, tuple(chosen))
    session.remember(GO, {"view": "history"})


def dialog_scope(view: str) -> DialogChoice | None:
    """The one dialog that is looked at, or None for all of them; a line says which, and leads back to all."""
    chosen = session.dialog()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if chosen is None:
            rows = view in ("coverage", "compare")
            st.caption(
                "All dialogs. A click on a row with a dialog looks at that one alone."
                if rows
                else "All dialogs. Coverage and Two days list them: a click there looks at one alone."
            )
        else:
            st.markdown(f"One dialog: {literal(veil.pair(chosen.ru_id, chosen.tu_id))}", width="content")
            st.caption(formats.key(chosen.dialog_key), width="content")
            st.button("All dialogs", key="all-dialogs", type="tertiary", on_click=session.choose_dialog, args=(None,))
    return chosen
