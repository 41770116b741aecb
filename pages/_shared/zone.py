"""The time zone in which somebody reads. It changes what is shown of a moment, never what is stored of it."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import streamlit as st

from core.errors import CoreError
from core.events.actor import current_actor
from pages._shared import veil
from pages._shared.resources import core, settings

# Pages of the own day: their days begin in the zone of the installation, for the companion counts by those days, and a
# time of another zone under such a day would be wrong.
OWN_DAY = frozenset(
    {"today", "chat", "todo", "calendar", "drink", "food", "places", "routines", "goals", "insights", "missions"}
)


def my_zone() -> ZoneInfo:
    """In force on this page, for whoever acts."""
    if by_installation() or current_actor() is None:
        return settings().zone
    try:
        return core().preferences.zone()
    except CoreError:
        return settings().zone


def my_zone_name() -> str:
    """The same, as the IANA database calls it."""
    return str(my_zone())


def by_installation() -> bool:
    """Whether this page keeps to the zone of the installation, whoever looks."""
    return st.session_state.get(veil.HERE) in OWN_DAY


def says() -> str:
    """What the head of a page tells of its zone."""
    if by_installation():
        return "All times on this page are in this zone of the installation: the days of the companion begin in it."
    return "All times on this page are in this zone. Choose another for yourself on the Settings page."
