"""The one line of a page that says whether it is masked, and the way to lift that."""

from __future__ import annotations

import streamlit as st

from core.access import who_may
from core.errors import CoreError
from core.services.veil import LASTS, REASON
from pages._shared import formats, session, veil
from pages._shared.fragments import fragment
from pages._shared.sitemap import Place
from pages._shared.zone import my_zone

EVERY_S = 20
REFUSED = "desk.reveal.refused"
# Pages that show nothing of the people of the memory.
BARE = frozenset(
    {"settings", "companion_settings", "access", "activity", "todo", "calendar", "drink", "food", "places"}
)


def control(here: Place) -> None:
    """In the head of a page."""
    if here.name in BARE:
        return
    found = veil.lifted()
    if found is not None:
        until = formats.clock(found.until, my_zone())[:5]
        st.badge(f"Revealed until {until}, recorded", color="red", icon=":material/visibility:")
        st.button("Hide", key="hide-personal", type="tertiary", on_click=veil.hide)
        _watch()
        return
    if session.may("reveal"):
        st.badge("Masked", color="gray", icon=":material/visibility_off:", help="Names, addresses, numbers, ids.")
        asked = st.button("Reveal", key="reveal-personal", type="tertiary", help="Asks why, and records it.")
        if asked or REFUSED in st.session_state:
            _ask()
    else:
        roles = " or ".join(who_may("reveal"))
        words = f"Personal data is not shown. A role that may reveal it: {roles}."
        st.badge("Masked", color="gray", icon=":material/visibility_off:", help=words)


@st.dialog("Reveal personal data")
def _ask() -> None:
    seen = veil.view()
    if seen.dialog_key:
        what = f"dialog {formats.key(seen.dialog_key)} on this page"
    else:
        what = "this one record" if seen.record else "everything that this page lists"
    minutes = int(LASTS.total_seconds()) // 60
    st.text(f"Shows {what} as it is stored, for {minutes} minutes or until you leave it.")
    st.text(f"Recorded first, for auditors and admins: {session.actor().display_name}, when, this view, the reason.")
    with st.form("reveal", border=False):
        placeholder = "such as a ticket or a complaint"
        st.text_input("Reason", key="reveal-reason", max_chars=REASON[1], placeholder=placeholder)
        st.form_submit_button("Reveal and record", type="primary", on_click=_lift)
    if refused := st.session_state.pop(REFUSED, None):
        st.error(refused)
    if veil.lifted() is not None:
        st.rerun()


def _lift() -> None:
    try:
        veil.lift(st.session_state.get("reveal-reason") or "")
    except CoreError as error:
        st.session_state[REFUSED] = str(error)


@fragment(run_every=EVERY_S)
def _watch() -> None:
    """What is on the screen goes when the time is over, also where nobody clicks."""
    if veil.lifted() is None:
        st.rerun()
