"""What the Activity page reads; see pages/_shared/reads.py."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.bootstrap import Core
from core.events.store import EventPage
from pages._shared.activity.facts import row
from pages._shared.activity.filters import Choice
from pages._shared.reads import Read, standing
from pages._shared.resources import core

PAGE = 50
EXPORT = 10_000


def events(choice: Choice, before_seq: int | None) -> Read[EventPage]:
    """A page of events, newest first."""
    return standing(("activity", choice, before_seq), lambda: _events(core(), choice, before_seq))


@st.cache_data(ttl=5, max_entries=32, show_spinner=False)  # an operator looks here right after doing something
def _events(_core: Core, choice: Choice, before_seq: int | None) -> Read[EventPage]:
    found = _core.events.store.find(**choice.query(_core.settings.zone), limit=PAGE, before_seq=before_seq)
    return Read(found, _core.clock.now())


def every(choice: Choice) -> list[dict[str, Any]]:
    """All that match, at most 10,000, for a file. Errors: DatabaseError."""
    store, query = core().events.store, choice.query(core().settings.zone)
    rows: list[dict[str, Any]] = []
    before: int | None = None
    while len(rows) < EXPORT:
        page = store.find(**query, limit=1000, before_seq=before)
        rows += [row(event) for event in page.rows]
        before = page.next_before_seq
        if before is None:
            break
    return rows[:EXPORT]


def forget() -> None:
    _events.clear()
