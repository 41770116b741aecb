"""What the Activity page reads; see pages/_shared/reads.py. Kept as it is stored, shown to whom it may be shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st

from core.bootstrap import Core
from core.events.acts import ActorCount, Counts
from core.events.owned import without_own_day
from core.events.store import EventPage, StoredEvent
from pages._shared import session
from pages._shared.activity.facts import row
from pages._shared.activity.filters import Choice
from pages._shared.reads import Read, standing
from pages._shared.resources import core
from pages._shared.zone import my_zone_name

PAGE = 50
EXPORT = 10_000


def events(choice: Choice, before_seq: int | None) -> Read[EventPage]:
    """A page of events, newest first."""
    zone = my_zone_name()
    found = standing(("activity", choice, before_seq, zone), lambda: _events(core(), choice, before_seq, zone))
    return replace(found, value=replace(found.value, rows=shown(found.value.rows, session.may("own_day"))))


@st.cache_data(ttl=5, max_entries=32, show_spinner=False)  # an operator looks here right after doing something
def _events(_core: Core, choice: Choice, before_seq: int | None, zone: str) -> Read[EventPage]:
    found = _core.events.store.find(**choice.query(ZoneInfo(zone)), limit=PAGE, before_seq=before_seq)
    return Read(found, _core.clock.now())


def counts(choice: Choice) -> Read[Counts]:
    """How many there are of each kind under what holds for all: about what, whose, between which days."""
    frame = Choice(choice.about, first=choice.first, last=choice.last, principal=choice.principal)
    zone = my_zone_name()
    return standing(("activity-counts", frame, zone), lambda: _counts(core(), frame, zone))


def actors() -> tuple[ActorCount, ...]:
    """Those who can be chosen, whenever they acted, by name."""
    found = counts(Choice()).value.actors
    return tuple(sorted(found, key=lambda one: (one.name.casefold(), one.principal)))


@st.cache_data(ttl=10, max_entries=16, show_spinner=False)  # one look at every event
def _counts(_core: Core, frame: Choice, zone: str) -> Read[Counts]:
    return Read(_core.events.store.counts(**frame.frame(ZoneInfo(zone))), _core.clock.now())


def every(choice: Choice, own: bool, zone: ZoneInfo) -> list[dict[str, Any]]:
    """All that match, at most 10,000, for a file. `own`: whoever asks sees the own day. Errors: DatabaseError."""
    store, query = core().events.store, choice.query(zone)
    rows: list[dict[str, Any]] = []
    before: int | None = None
    while len(rows) < EXPORT:
        page = store.find(**query, limit=1000, before_seq=before)
        rows += [row(event) for event in shown(page.rows, own)]
        before = page.next_before_seq
        if before is None:
            break
    return rows[:EXPORT]


def shown(events: Iterable[StoredEvent], own: bool) -> tuple[StoredEvent, ...]:
    """Without the own day where that is not theirs; the reason that an AI gave is a model's text, and is masked."""
    found = [event if own else without_own_day(event) for event in events]
    keys = {key for event in found if _said(event) and (key := _whose(event))}
    people = core().veil.people
    masks = people.masks(keys)
    return tuple(
        replace(event, actor=replace(event.actor, rationale=mask.text(event.actor.rationale or "")))
        if _said(event) and (mask := masks.get(_whose(event)) or people.mask(None))
        else event
        for event in found
    )


def _whose(event: StoredEvent) -> str:
    return str(event.payload.get("dialog_key") or event.record_id or "")


def _said(event: StoredEvent) -> bool:
    return bool(event.actor.rationale)


def forget() -> None:
    _events.clear()
    _counts.clear()
