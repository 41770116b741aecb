"""Two days side by side, for one dialog field by field, for all dialogs in numbers."""

from __future__ import annotations

from datetime import date, timedelta

import streamlit as st

from core.snapshots.diff import DialogDiff, EntityChange
from pages._shared import formats, layout, session, tables, veil
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, panel
from pages._shared.session import DialogChoice
from pages._shared.snapshots import choices, payload, reading
from pages._shared.snapshots.choices import Entity, look_at
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

DIALOGS = (
    Column("ru_id", "RU", pinned=True),
    Column("tu_id", "TU"),
    Column("key", "Key"),
    Column("added", "Added", "count"),
    Column("removed", "Removed", "count"),
    Column("changed", "Changed", "count"),
    Column("unchanged", "Unchanged", "count"),
)
CHANGES = (
    Column("change", "Change", width=90, pinned=True),
    Column("entity_type", "Type", width=90),
    Column("who", "Role or id", width=235),
    Column("fields", "Fields", width=230),
    Column("from_hash", "Hash before", width=130),
    Column("to_hash", "Hash after", width=130),
    Column("note", "Note", width="large"),
)


def show(chosen: DialogChoice | None, last: date, head: Head) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        day_from = choices.day("From", "from", last - timedelta(days=1))
        day_to = choices.day("To", "to", last)
    if chosen is None:
        _all(day_from, day_to, head)
    else:
        _one(chosen, day_from, day_to, head)


def _all(day_from: date, day_to: date, head: Head) -> None:
    page = session.page_number("differing")
    read = reading.diff_days(day_from, day_to, page)
    head.as_of(read.at)
    stale(read)
    found = read.value
    if not _kept(found.from_rows, found.to_rows, day_from, day_to):
        return
    layout.figures(
        Figure("Added", formats.count(found.added)),
        Figure("Removed", formats.count(found.removed)),
        Figure("Changed", formats.count(found.changed), "Same entity, another hash."),
        Figure("Unchanged", formats.count(found.unchanged)),
        Figure("Dialogs that differ", f"{found.total:,} of {found.dialogs:,}"),
    )
    if not found.total:
        empty("No difference", "Every entity of the two days has the same hash.")
        return
    rows = [{**vars(row), "key": formats.key(row.dialog_key)} for row in found.rows]
    with panel("Dialogs that differ (entities)", "Most differences first. Click a row to see what changed."):
        picked = tables.show(rows, DIALOGS, key=f"differing-{page}", zone=my_zone_name(), select=True, height="content")
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            pages = max(1, -(-found.total // reading.PAGE))
            if pages > 1:
                st.pagination(pages, key="differing", bind="query-params", width=280)
            fields = [c.field for c in DIALOGS if c.field != "key"] + ["dialog_key"]
            tables.downloads(rows, fields, name="differing-dialogs", key="differing-file")
    if picked is not None:
        row = found.rows[picked]
        session.choose_dialog(DialogChoice(row.dialog_key, row.ru_id, row.tu_id))
        st.rerun()


def _one(chosen: DialogChoice, day_from: date, day_to: date, head: Head) -> None:
    read = reading.diff(chosen.dialog_key, day_from, day_to)
    head.as_of(read.at)
    stale(read)
    found = read.value
    if not _kept(found.from_rows, found.to_rows, day_from, day_to):
        return
    layout.figures(
        *(Figure(name.capitalize(), formats.count(getattr(found, name))) for name in ("added", "removed", "changed")),
        Figure("Unchanged", formats.count(found.unchanged)),
    )
    if not found.rows:
        empty("No difference", "Every entity of the two days has the same hash.")
        return
    _changes(found)


def _changes(found: DialogDiff) -> None:
    rows = [row_of(change, found.dialog_key) for change in found.rows]
    with panel("What changed", "By identity, then by hash. Click a row to see it field by field."):
        picked = tables.show(
            rows,
            CHANGES,
            key=f"changed-{found.day_from}-{found.day_to}",
            zone=my_zone_name(),
            select=True,
            height="content",
        )
        if found.truncated:
            st.caption(f"The first {len(rows):,} differences are listed.")
        tables.downloads(rows, [c.field for c in CHANGES], name="changed-entities", key="changed-file")
    if picked is None:
        picked = next((n for n, change in enumerate(found.rows) if change.fields), None)
    if picked is not None:
        _detail(found, found.rows[picked])


def _detail(found: DialogDiff, change: EntityChange) -> None:
    with panel("Field by field", f"{change.entity_type}, {found.day_from} to {found.day_to}: {change.change}."):
        if change.note:
            st.info(change.note)
        if change.change == "changed":
            payload.show(change.fields, key="compare")
        else:
            payload.whole(change.after if change.change == "added" else change.before)
        entity = Entity(found.dialog_key, change.entity_type, change.source_role, change.source_id)
        st.button("History of this entity", key="look-at", icon=":material/history:", on_click=look_at, args=(entity,))


def row_of(change: EntityChange, dialog_key: str) -> dict[str, object]:
    return {
        "change": change.change,
        "entity_type": change.entity_type,
        "who": change.source_role or veil.text(change.source_id, dialog_key),
        "fields": ", ".join(dict.fromkeys(f.place for f in change.fields)),
        "from_hash": (change.from_hash or "")[:12],
        "to_hash": (change.to_hash or "")[:12],
        "note": change.note,
    }


def _kept(from_rows: int, to_rows: int, day_from: date, day_to: date) -> bool:
    """False, and a word, where there is nothing to compare; a warning where one day is unknown."""
    if not from_rows and not to_rows:
        empty("Nothing is kept of either day", "Choose days that the coverage shows as stored.")
        return False
    for rows, day in ((from_rows, day_from), (to_rows, day_to)):
        if not rows:
            st.warning(
                f"Nothing is kept of {day}: that is unknown, not empty. All of the other day counts as different."
            )
    return True
