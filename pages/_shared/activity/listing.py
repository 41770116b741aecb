"""The list of events, page by page, and its files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from zoneinfo import ZoneInfo

import streamlit as st

from core.events.store import EventPage, StoredEvent
from pages._shared import downloads, formats, session, tables
from pages._shared.activity import reading
from pages._shared.activity.facts import FIELDS, row, target, who
from pages._shared.activity.filters import Choice
from pages._shared.export import to_csv, to_json
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.reads import Read
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

PLACE = "activity.place"
HELD = "activity.held"
COLUMNS = (
    Column("at", "When", "when"),
    Column("type", "What"),
    Column("actor", "Who"),
    Column("target", "On", width=150),
    Column("before", "Before", width=120),
    Column("after", "After, and facts", width=330),
    Column("reason", "Reason"),
    Column("seq", "Row", "count"),
)


def place(choice: Choice) -> list[int]:
    """The rows before which the pages begin that were turned; empty on the newest page, and after another choice."""
    kept = session.remembered(PLACE, None)
    return list(kept[1]) if kept and kept[0] == choice else []


def read(choice: Choice) -> Read[EventPage]:
    """The page in hand. While a row of it is ticked it is kept: a tick is a place, and with newer events above it the
    same place would be another event."""
    turned = place(choice)
    key = _key(choice, turned)
    kept = session.remembered(HELD, None)
    state = st.session_state.get(key)
    if kept and kept[0] == key and state and tables.chosen_row(state) is not None:
        held: Read[EventPage] = kept[1]
        return held
    found = reading.events(choice, turned[-1] if turned else None)
    session.remember(HELD, (key, found))
    return found


def _key(choice: Choice, turned: list[int]) -> str:
    return f"events-{turned[-1] if turned else 'newest'}-{hash(choice)}"


def show(choice: Choice, found: EventPage) -> StoredEvent | None:
    """Draws a page; the event somebody chose, else None."""
    turned = place(choice)
    says = "Newest first. Events hold counts, ids and hashes, never a text. Click a row for all of it."
    with panel("Events", says):
        if not found.rows:
            _nothing(choice, turned)
            return None
        shown = [
            row(event) | {"type": formats.event(event.type), "actor": who(event), "target": formats.key(target(event))}
            for event in found.rows
        ]
        key = _key(choice, turned)
        chosen = tables.show(shown, COLUMNS, key=key, zone=my_zone_name(), select=True)
        if chosen is not None:
            st.caption("This list stands still while a row is ticked; newer events come when the tick is taken away.")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _turn(choice, turned, found)
            tables.downloads([row(event) for event in found.rows], FIELDS, name="activity", key="activity-file")
            _all_files(choice, complete=found.next_before_seq is None and not turned)
    return found.rows[chosen] if chosen is not None else None


def _turn(choice: Choice, turned: list[int], found: EventPage) -> None:
    st.button("Newest", key="newest", disabled=not turned, on_click=_go, args=(choice, []))
    onward = found.next_before_seq
    st.button(
        "Older",
        key="older",
        icon=":material/arrow_forward:",
        disabled=onward is None,
        on_click=_go,
        args=(choice, [*turned, onward]),
    )


def _go(choice: Choice, turned: list[int]) -> None:
    session.remember(PLACE, (choice, turned))


def _all_files(choice: Choice, *, complete: bool) -> None:
    """Files of all pages together, made when somebody clicks."""
    if complete:
        return
    own, zone = session.may("own_day"), my_zone()
    for label, make, mime in (("CSV", to_csv, "text/csv"), ("JSON", to_json, "application/json")):
        downloads.button(
            f"All matching, {label}",
            partial(_whole, choice, make, own, zone),
            what="activity-all",
            file_name=f"activity-all.{label.lower()}",
            mime=mime,
            key=f"activity-all-{label.lower()}",
            help=f"Every page, at most {reading.EXPORT:,} events.",
        )


def _whole(choice: Choice, make: Callable[..., bytes], own: bool, zone: ZoneInfo) -> tuple[bytes, int]:
    rows = reading.every(choice, own, zone)
    return make(rows, FIELDS), len(rows)


def _nothing(choice: Choice, turned: list[int]) -> None:
    if choice != Choice() or turned:
        empty("No event matches", "Take a filter away, or follow another id.")
    else:
        empty(
            "Nothing has happened yet", "Ingests, searches, clean-ups and changes of health appear here as they happen."
        )
