"""What belongs to the state of each page: codes of its address, and what this tab keeps and no address ever shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import streamlit as st

from core.memory.sources import SOURCES
from core.services.view_store import ViewState
from pages._shared import session


@dataclass(frozen=True)
class Kept:
    """Names of one page. `address`: a pattern of those in its address. `plain`: ids and choices, `texts`: words that
    somebody typed, both as they stand in the state of a tab. `dialog`: whether the dialog in hand belongs to it."""

    address: str
    plain: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    dialog: bool = False

    def is_address(self, name: str) -> bool:
        return re.fullmatch(self.address, name) is not None


def _kept(*names: str) -> tuple[str, ...]:
    return tuple(f"desk.kept.{name}" for name in names)


ASK_NOW = "desk.kept.search-now"
PAGES: Mapping[str, Kept] = MappingProxyType(
    {
        "dialogs": Kept("page|in|sort|order|source|chunks|flag", (), (*_kept("find"), "chunk-text"), dialog=True),
        "search": Kept(
            r"scope|limit|mode|words|fit|fusion|unit|boost_\w+",
            ("budget", *(f"quota_{source}" for source in SOURCES), ASK_NOW),
            (*_kept("query"), "client"),
            dialog=True,
        ),
        "prompts": Kept(
            "record|found|records|reports|never", _kept("prompts-request", "prompts-chunk", "prompts-only"), dialog=True
        ),
        "tuning": Kept(r"view|metric|k|llm|archived|whatif[-_]\w+", (*_kept("tuning.set"), "rent-scope"), dialog=True),
        "snapshots": Kept(
            "view|day|from|to|type|window|state|dialogs|differing|entities", _kept("snapshot-entity"), dialog=True
        ),
        "usage": Kept(
            "range|by|amount|step|from|to|dialogs-page|requests-page",
            (*_kept("usage-request"), "usage-only-dialog"),
            dialog=True,
        ),
        "chat": Kept("conversation"),
        "todo": Kept("show", (), ("todo-find",)),
        "routines": Kept("routine|runs-page"),
        "insights": Kept("view"),
        "missions": Kept(r"runs-?\w*", _kept("mission-chosen")),
        "workbench": Kept("view|part|span|waiting-page|decided-page|timeline-page", _kept("workbench-mission")),
        "feed": Kept("kind|part"),
        "companion_settings": Kept("view|part"),
        "operations": Kept("section|jobs-page|pairs|old", dialog=True),
        "health": Kept("past"),
        "activity": Kept("what|by|part|event|from|to", _kept("activity.about", "activity.actor")),
        "access": Kept("view"),
    }
)


def now(page: str) -> ViewState:
    """What the page shows in this tab."""
    kept, params = PAGES[page], st.query_params
    address: dict[str, Any] = {}
    for name in params:
        if kept.is_address(name):
            every = params.get_all(name)
            address[name] = every[0] if len(every) == 1 else list(every)
    plain = {name: _plain(st.session_state[name]) for name in kept.plain if st.session_state.get(name) is not None}
    if page == "search":
        plain[ASK_NOW] = session.exploration() is not None
    texts = {name: str(st.session_state[name]) for name in kept.texts if st.session_state.get(name)}
    chosen = session.dialog() if kept.dialog else None
    return ViewState(address, plain, texts, chosen.dialog_key if chosen else None)


def known(page: str, state: ViewState) -> ViewState:
    """Without what this version of the page does not know."""
    kept = PAGES[page]
    return ViewState(
        {name: value for name, value in state.address.items() if kept.is_address(name)},
        {name: value for name, value in state.plain.items() if name in kept.plain},
        {name: value for name, value in state.texts.items() if name in kept.texts},
        state.dialog_key if kept.dialog else None,
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value
