"""From an event to the page of what it was about; what has to be in hand there is kept in the tab alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.events.acts import ACCESS
from core.events.store import StoredEvent
from pages._shared import reads, session
from pages._shared.companion import workbench
from pages._shared.missions import reading as missions
from pages._shared.prompts import reading as prompts
from pages._shared.sitemap import PLACES, place
from pages._shared.tuning import choices

# The page on which events of a part lead somewhere, where they name nothing that leads further.
PARTS = {
    **{name: name for name in ("todo", "calendar", "drink", "food", "places")},
    **{"memory": "operations", "snapshots": "snapshots", "operations": "operations", "usage": "usage"},
    **{"health": "health", "tuning": "tuning", "companion": "workbench", "access": "access"},
}


@dataclass(frozen=True)
class Link:
    """A way to a page; `before` puts what it is about in hand."""

    label: str
    page: str
    before: Callable[[], None] = lambda: None


def links(event: StoredEvent) -> tuple[Link, ...]:
    """Those that whoever is here may follow, what an event names first."""
    found = [link for link in _named(event) if session.may(place(link.page).action)]
    if not found and (page := _page(event)) and session.may(place(page).action):
        found = [Link(f"Open {place(page).title}", page)]
    return tuple(found)


def show(event: StoredEvent) -> None:
    """Buttons, since a link could carry nothing but an address."""
    for link in links(event):
        if st.button(link.label, key=f"link-{link.page}-{link.label}", icon=place(link.page).icon, type="tertiary"):
            link.before()
            st.switch_page(place(link.page).path, query_params={})


def _named(event: StoredEvent) -> list[Link]:
    said = {name: str(value) for name, value in event.payload.items() if isinstance(value, str) and value}
    found: list[Link] = []
    if key := said.get("dialog_key") or said.get("kept_key"):
        found.append(Link("Open the dialog", "dialogs", partial(_dialog, key)))
    if event.app_id == "memory" and (request := said.get("request_id")):
        found.append(Link("Open what it retrieved", "prompts", partial(prompts.ask_for_request, request)))
    if query_set := said.get("query_set"):
        found.append(Link("Open the query set", "tuning", partial(choices.remember_set, query_set)))
    mission = said.get("mission_id") or (event.actor.mission_id if event.actor.kind == "ai" else None)
    if event.type.startswith("Mission") and mission:
        found.append(Link("Open the mission", "missions", partial(missions.choose, mission)))
    elif mission:
        found.append(Link("Open the AI's work", "workbench", partial(session.remember, workbench.MISSION, mission)))
    if "goal_id" in said:
        found.append(Link("Open Goals", "goals"))
    if "ritual_id" in said:
        found.append(Link("Open Routines", "routines"))
    return found


def _page(event: StoredEvent) -> str | None:
    if event.type in ACCESS:
        return "access"
    looked = str(event.payload.get("page") or "")  # of a reveal or an export
    if any(looked == one.name for one in PLACES):
        return looked
    return PARTS.get(event.app_id)


def _dialog(key: str) -> None:
    row = reads.dialog(key).value
    session.choose_dialog(session.DialogChoice(key, row.ru_id, row.tu_id) if row else session.DialogChoice(key))
