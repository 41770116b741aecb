"""Above the conversation: which one, a new one, its name and its end; and who would answer."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.companion.converse.chat.records import Conversation
from core.errors import CoreError
from pages._shared import formats, session
from pages._shared.chat import talking
from pages._shared.literal import literal
from pages._shared.resources import core
from pages._shared.sitemap import place
from pages._shared.zone import my_zone

CHOICE = "chat-choice"
NEW = "A new conversation"
SETTINGS = "companion_settings"
TIERS = {"server": "own server", "cloud": "Gemini"}


def show(talk: talking.Talk) -> None:
    """The list as one field, so that it takes one line on a narrow screen as well."""
    page = talking.conversations()
    known = {one.id: one for one in page.rows}
    if talk.transcript is not None:
        known.setdefault(talk.id, talk.transcript.conversation)
    options = ([] if talk.transcript is not None else [""]) + list(known)
    names = _names(known.values())
    wanted = talk.id if talk.transcript is not None else ""
    if st.session_state.get(CHOICE) != wanted:
        st.session_state[CHOICE] = wanted
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Conversation",
            options,
            key=CHOICE,
            format_func=lambda id: names.get(id, NEW),
            on_change=talking.chosen,
            args=(CHOICE,),
            help=f"The latest {talking.LISTED} of {page.total:,}." if page.total > talking.LISTED else None,
            width=380,
        )
        st.button("New", key="chat-new", icon=":material/add:", on_click=talking.begin)
        if talk.transcript is not None:
            with st.popover("Rename or delete", icon=":material/edit:"):
                _edit(talk.transcript.conversation)
    _gone()


def who_answers() -> None:
    """One line: the tiers that may answer now, and the way to the settings where none may."""
    try:
        states = core().companion.router.states()
    except CoreError:
        st.caption("What models may be asked cannot be read now: rules answer.")
        return
    ready = [f"{TIERS[s.tier]}, {literal(s.model or '')}" for s in states if s.tier in TIERS and s.state == "ready"]
    if ready:
        st.caption(f"Answers come from {ready[0]} first; from rules where a question is private, or it fails.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        unset = all(s.state == "no-backend" for s in states if s.tier in TIERS)
        why = (
            "none is configured"
            if unset
            else "; ".join(str(s.why) for s in states if s.state not in ("ready", "no-backend"))
        )
        st.caption(f"Rules answer, without a model: {why.rstrip('.')}.")
        st.page_link(place(SETTINGS).path, label=place(SETTINGS).title, icon=place(SETTINGS).icon)


def _edit(conversation: Conversation) -> None:
    key = f"chat-title-{conversation.id}"
    st.text_input("Title", value=conversation.title, key=key, max_chars=60)
    with st.container(horizontal=True, gap="small"):
        st.button("Rename", key="chat-rename", on_click=talking.rename, args=(conversation.id, key))
        st.button(
            "Delete",
            key="chat-delete",
            icon=":material/delete:",
            on_click=talking.delete,
            args=(conversation.id, conversation.title),
            help="It can be brought back for 30 days, as long as this tab is open.",
        )


def _gone() -> None:
    gone = session.remembered(talking.GONE, None)
    if gone:
        with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("deleted", color="gray")
            st.text(gone[1])
            st.button("Bring it back", key="chat-back", on_click=talking.bring_back, args=(gone[0],))


def _names(many: Iterable[Conversation]) -> dict[str, str]:
    """What each is called in the list: no two alike, and none changes with an answer."""
    oldest = sorted(many, key=lambda one: (one.created_at, one.id))
    zone = my_zone()
    return formats.apart({one.id: f"{one.title} · {formats.moment(one.created_at, zone)[5:16]}" for one in oldest})
