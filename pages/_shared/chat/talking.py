"""Which conversation is open, what is in it, and what a press does: once, as the one who is here."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.companion.converse.chat.chat import Chat
from core.companion.converse.chat.questions import is_id
from core.companion.converse.chat.records import ConversationPage, Transcript
from core.companion.converse.chat.running import Running
from core.errors import NotFound
from core.events import run_as
from pages._shared import session
from pages._shared.operations import outcome
from pages._shared.resources import core

OPEN = "chat.open"
GONE = "chat.gone"
INPUT = "chat-question"
ADDRESS = "conversation"
LISTED = 50


@dataclass(frozen=True)
class Talk:
    """The open conversation: `transcript` is None while nothing was asked; `running` is answering, or did. `busy`: it
    was answering before the transcript was read, which then may lack the answer, and is followed to its end."""

    id: str
    transcript: Transcript | None
    running: Running | None
    busy: bool = False


def chat() -> Chat:
    return core().companion.chat


def conversations() -> ConversationPage:
    """The latest ones. Errors: DatabaseError."""
    return chat().conversations(LISTED)


def current() -> Talk:
    """Of this tab, or of the address. Errors: DatabaseError."""
    id = st.query_params.get(ADDRESS) or session.remembered(OPEN, None)
    if id is None:
        id = _new()
    # First who answers, then what is kept: an answer that comes in between is then in what is read.
    running = chat().running(id)
    busy = running is not None and not running.ended
    if running is not None and not busy and running.failure is None:
        running = None
    try:
        return Talk(id, chat().read(id), running, busy)
    except NotFound:
        if ADDRESS in st.query_params:
            outcome.say("note", "That conversation is not there: it may have been deleted. This is a new one.")
            id = _new()
        return Talk(id, None, None)


def open_one(id: str) -> None:
    """A callback."""
    session.remember(OPEN, id)
    st.query_params[ADDRESS] = id
    session.remember(GONE, None)


def chosen(key: str) -> None:
    """A callback of the list: what stands in the widget is opened."""
    id = str(st.session_state.get(key) or "")
    if is_id(id):  # else the words of one that is not in the list any more
        open_one(id)


def begin() -> None:
    """A callback: an empty conversation; nothing is kept before something is asked."""
    _new()


def ask(id: str, message_id: str, text: str) -> None:
    """A callback: pressed twice it is one question, since the message's id was made when the page was drawn."""
    outcome.new_form(INPUT)
    if _do("Ask", lambda: chat().ask(id, message_id, text)) is None:
        outcome.say("note", f"Not sent: {text}")
    else:
        open_one(id)


def typed(id: str, message_id: str) -> None:
    """A callback of the field at the foot of the page."""
    text = str(st.session_state.get(INPUT) or "")
    before = chat().running(id)
    if before is not None and before.message_id == message_id and before.question != text.strip():
        message_id = str(uuid.uuid4())  # sent before the page was drawn anew, and not the same question
    if text.strip():
        ask(id, message_id, text)


def again(id: str, turn_id: str) -> None:
    """A callback."""
    _do("Ask again", lambda: chat().again(id, turn_id))


def rename(id: str, key: str) -> None:
    """A callback."""
    _do("Rename", lambda: chat().rename(id, str(st.session_state.get(key) or "")))


def delete(id: str, title: str) -> None:
    """A callback."""

    def gone() -> bool:
        chat().delete(id)
        return True

    if _do("Delete", gone):
        _new()
        session.remember(GONE, (id, title))


def bring_back(id: str) -> None:
    """A callback."""
    _do("Bring it back", lambda: chat().restore(id))
    open_one(id)


def _new() -> str:
    id = str(uuid.uuid4())
    session.remember(OPEN, id)
    session.remember(GONE, None)
    st.query_params.pop(ADDRESS, None)
    outcome.new_form(INPUT)
    return id


def _do(what: str, act: Callable[[], object]) -> object:
    with run_as(session.actor()):
        return outcome.attempt(what, act)
