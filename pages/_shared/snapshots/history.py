"""One entity day by day: when it changed, for a year by its hash, field by field while the snapshots are kept."""

from __future__ import annotations

import streamlit as st

from core.snapshots.history import EntityDay
from pages._shared import formats, layout, tables, veil
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, panel
from pages._shared.literal import literal
from pages._shared.snapshots import payload, reading
from pages._shared.snapshots.choices import entity
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("sync_date", "Day", "day", pinned=True),
    Column("state", "Kept", width=100),
    Column("change", "Against the day before it", width=170),
    Column("content_hash", "Hash", width="large"),
    Column("expires_at", "Expires", "when"),
)


def show(head: Head) -> None:
    chosen = entity()
    if chosen is None:
        empty(
            "No entity is chosen", "Choose one: in a day, or where two days are compared, a row leads to its history."
        )
        return
    read = reading.history(chosen)
    head.as_of(read.at)
    stale(read)
    found = read.value
    if not found.rows:
        empty("Nothing is known of this entity any more", "Its snapshots and their hashes are gone.")
        return
    label = literal(veil.text(chosen.label, chosen.dialog_key))
    st.markdown(f"**{label}** in {literal(formats.key(chosen.dialog_key))}")
    latest = found.last_change
    layout.figures(
        Figure(
            "Last changed", latest.sync_date if latest else "never", "The latest day on which its hash was another."
        ),
        Figure("Changes", formats.count(found.changes), f"Between neighbours of {found.days} known days."),
        Figure("Known since", found.first or "–"),
        Figure("Days stored", formats.count(found.stored), "With their payload; of the others the hash is left."),
    )
    rows = [row_of(day) for day in found.rows]
    with panel("Day by day", "Hashes are kept a year, payloads until the snapshot expires. Click a day to see it."):
        picked = tables.show(rows, COLUMNS, key="history", zone=my_zone_name(), select=True)
        tables.downloads(rows, [c.field for c in COLUMNS], name="history", key="history-file")
    day = found.rows[picked] if picked is not None else latest
    if day is not None:
        _day(day)


def row_of(day: EntityDay) -> dict[str, object]:
    change = "first known" if day.previous_date is None else "changed" if day.changed else "the same"
    return {
        "sync_date": day.sync_date,
        "state": "payload" if day.stored else "hash only",
        "change": change,
        "content_hash": day.content_hash,
        "expires_at": day.expires_at,
    }


def _day(day: EntityDay) -> None:
    with panel("That day", f"{day.sync_date}, against {day.previous_date or 'nothing before it'}."):
        changes = day.fields
        if day.changed and changes is None:
            st.text("It changed on this day. What changed can no longer be said: a payload of the two has expired.")
        elif changes:
            payload.show(changes, key="history-day")
        elif day.previous_date is not None and not day.changed:
            st.text("It is the same as on the day before it.")
        if day.stored:
            payload.whole(day.payload)
