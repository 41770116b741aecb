"""The entities of one day, one of them in full, and whether the stored hashes are right."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

from core.snapshots.rows import ENTITY_TYPES, MARKER, StoredSnapshot
from core.snapshots.verify import Verification
from pages._shared import formats, session, tables, veil
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.session import DialogChoice
from pages._shared.snapshots import acting, choices, payload, pinning, reading
from pages._shared.snapshots.choices import Entity, look_at
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("entity_type", "Type", width=90, pinned=True),
    Column("who", "Role or id", width=235),
    Column("text", "Text", width=260),
    Column("expires_at", "Expires", "when", width=140),
    Column("pinned_until", "Pinned until", "when", width=140),
    Column("ru_id", "RU"),
    Column("tu_id", "TU"),
    Column("hash", "Hash", width=110),
    Column("origin", "Written by", width=100),
)
FIELDS = (
    *("id", "sync_date", "dialog_key", "family", "ru_id", "tu_id", "entity_type", "source_role", "source_id"),
    *("entity_at", "initiator", "text", "content_hash", "created_at", "updated_at", "expires_at", "pinned_until"),
)
MISMATCHES = (
    Column("entity_type", "Type"),
    Column("source_role", "Role"),
    Column("source_id", "Id"),
    Column("stored", "Stored hash", width="medium"),
    Column("recomputed", "Recomputed", width="medium"),
)


def show(chosen: DialogChoice | None, last: date, head: Head) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        day = choices.day("Day", "day", last)
        kind = st.selectbox("Type", ("all", *ENTITY_TYPES, MARKER), key="type", bind="query-params", width=140)
    key, page = (chosen.dialog_key if chosen else None), session.page_number("entities")
    wanted = None if kind == "all" else kind
    read = reading.entities(day, key, wanted, None, page)
    head.as_of(read.at)
    stale(read)
    if not read.value.total:
        empty(
            "No snapshot is kept of this day",
            "None was written, or it has expired. The history knows hashes for a year.",
        )
        return
    with panel("Entities of the day", _counts(read.value.by_type)):
        listing(read.value.rows, read.value.total, page, key=f"day-{day}-{kind}")
    with panel("Hashes", "Recomputed from the payloads as the database gives them back, against those stored."):
        if st.button("Verify this day", key="verify", icon=":material/verified:"):
            with boundary("The verification"):
                bar = st.progress(0.0, "Reading")
                found = acting.verify(day, key, lambda done, _, words: _advance(bar, done, read.value.total, words))
                bar.empty()
                _verified(found, key)


def listing(rows: tuple[StoredSnapshot, ...], total: int, page: int, *, key: str) -> None:
    """One page of snapshots; a click shows one in full."""
    shown = [row_of(row) for row in rows]
    picked = tables.show(shown, COLUMNS, key=f"{key}-{page}", zone=my_zone_name(), select=True, height="content")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        pages = max(1, -(-total // reading.PAGE))
        if pages > 1:
            st.pagination(pages, key="entities", bind="query-params", width=280)
        st.caption(formats.plural(total, "snapshot"), width="content")
        tables.downloads(shown, FIELDS, name="snapshots", key=f"{key}-file")
    if picked is not None:
        whole(rows[picked])


def row_of(row: StoredSnapshot) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in FIELDS},
        "source_id": veil.text(row.source_id, row.dialog_key),
        "who": row.source_role or veil.text(row.source_id, row.dialog_key),
        "hash": (row.content_hash or "none")[:12],
        "origin": "dashboard" if row.ours else "upstream",
    }


def whole(row: StoredSnapshot) -> None:
    """One snapshot in full, its pin, and the way to its history."""
    with st.container(border=True, key="whole-snapshot"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(row.entity_type, color="gray")
            st.caption(f"{row.sync_date}, hash {row.content_hash or 'none'}", width="content")
            entity = Entity(row.dialog_key, row.entity_type, row.source_role, row.source_id)
            st.button(
                "History of this entity", key="look-at", icon=":material/history:", on_click=look_at, args=(entity,)
            )
        payload.whole(row.payload)
        pinning.show(row)


def _counts(by_type: Any) -> str:
    return "Counts: " + ", ".join(f"{kind} {n:,}" for kind, n in by_type.items()) + ". Click a row to see it whole."


def _advance(bar: Any, done: int, total: int, words: str) -> None:
    bar.progress(min(1.0, done / max(total, 1)), words)


def _verified(found: Verification, key: str | None) -> None:
    if not found.differ:
        st.success(f"{formats.plural(found.equal, 'hash is right', 'hashes are right')}, none is wrong.")
    else:
        st.error(
            f"{formats.plural(found.differ, 'hash is', 'hashes are')} not that of the payload, of {found.checked:,}."
        )
        rows = [{**vars(wrong), "source_id": veil.text(wrong.source_id, key)} for wrong in found.differing]
        tables.show(rows, MISMATCHES, key="mismatches", zone=my_zone_name(), height="content")
        tables.downloads(rows, list(rows[0]), name="wrong-hashes", key="mismatches-file")
    if found.without_hash:
        st.caption(f"{formats.plural(found.without_hash, 'row has', 'rows have')} no hash to compare with.")
