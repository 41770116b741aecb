"""People who signed in: who they are, what they may now, when they were here last; their sessions can be ended."""

from __future__ import annotations

import streamlit as st

from pages._shared import tables
from pages._shared.access import acting, who
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.resources import core, settings
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

FIELDS = ("name", "roles", "last_seen", "sessions", "id")
COLUMNS = (
    Column("name", "Name", pinned=True, width=260),
    Column("roles", "Roles now", width=200),
    Column("last_seen", "Last seen", "when"),
    Column("sessions", "Open sessions", "count", width=110),
    Column("id", "Id", width=190),
)


def show() -> None:
    found = core().access_desk.people()
    if not found:
        local = ", ".join(sorted(settings().local_roles)) or "none"
        if who.sign_in():
            empty("Nobody was here yet", "Whoever signs in stands here from then on.")
        else:
            empty("Nobody signs in here", f"Sign-in is not set up: everybody here is the local operator ({local}).")
        return
    rows = [
        {
            "name": person.display_name,
            "roles": ", ".join(sorted(person.roles)) or "none",
            "last_seen": person.last_seen,
            "sessions": person.sessions,
            "id": person.principal_id,
        }
        for person in found
    ]
    with panel("People", "Whoever signed in, the latest first. Roles are what the rules say of them now."):
        chosen = tables.show(rows, COLUMNS, key="access-people", zone=my_zone_name(), select=True)
        tables.downloads(rows, FIELDS, name="people", key="access-people-file")
        if chosen is None:
            st.caption("Choose somebody to end their sessions.")
            return
        person = found[chosen]
        st.text(person.display_name)
        with st.popover("End their sessions"):
            st.text("At their next click they have to sign in again. To keep them out, drop their roles.")
            st.button(
                "End them",
                key="sessions-end",
                type="primary",
                on_click=acting.end_sessions,
                args=(person.principal_id,),
            )
