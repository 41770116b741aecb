"""What an ingest would write, dialog by dialog: what is new, known, embedded again, cut, dropped, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import streamlit as st

from core.access.masking import Known, Mask
from core.memory.speakers import NAME_LINE
from core.services.intake import DialogPreview, Staged
from core.services.prepared import Preview
from pages._shared import formats, tables, veil
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.operations import reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

PAGE = reading.PREVIEWED
COLUMNS = (
    Column("label", "Dialog", pinned=True),
    Column("pair", "Pair"),
    Column("key", "Key"),
    Column("why", "Why this key, or why refused", width=330),
    Column("new", "New", "count", help="Chunks that are not stored yet."),
    Column("stale", "Stale", "count", help="Stored, and embedded by another model or none: embedded again."),
    Column("unchanged", "Unchanged", "count"),
    Column("cut", "Cut", "count", help="Texts longer than a chunk may be."),
    Column("dropped", "Dropped", "count", help="Empty, system, repeated or malformed entries, and older messages."),
)
DROPPED = ("dropped", "system", "repeated", "malformed", "limit")
CHUNKS = (
    Column("state", "State"),
    Column("source", "Source"),
    Column("source_id", "Id"),
    Column("at", "Date"),
    Column("text", "Text", width=260),
)
NOTICES = (
    Column("message", "Says", width=260),
    Column("count", "Times", "count"),
    Column("field", "Field"),
    Column("kind", "Kind"),
)
MATCHES = (
    Column("state", "In memory"),
    Column("entity", "Entity"),
    Column("date", "Date"),
    Column("source_id", "Id there"),
    Column("text", "Text", width="large"),
)


def show(held: Staged, *, windows: bool, head: Head) -> None:
    """One page of dialogs; a click on one shows its chunks and what was odd about it."""
    pages = max(1, -(-held.dialogs // PAGE))
    page = st.pagination(pages, key=f"preview-{held.sha[:8]}") if pages > 1 else 1
    read = reading.ingest_preview(held.sha, windows, (page - 1) * PAGE)
    head.as_of(read.at)
    rows = [row_of(item) for item in read.value]
    says = "Compared with what is stored now; nothing is embedded or written yet. Click a dialog for its chunks."
    with panel("What would be written (chunks)", says):
        chosen = tables.show(
            rows,
            COLUMNS,
            key=f"preview-table-{held.sha[:8]}-{page}-{windows}",
            zone="UTC",
            select=True,
            height="content",
        )
        tables.downloads(rows, [c.field for c in COLUMNS], name="ingest-preview", key="preview-file")
    if chosen is None and len(read.value) == 1:
        chosen = 0
    if chosen is not None:
        detail(read.value[chosen])


def row_of(item: DialogPreview) -> dict[str, Any]:
    """A dialog as the table shows it; one that would be refused says why."""
    found = item.preview
    if found is None:
        why = f"refused: {item.refused.what} {item.refused.hint}".strip() if item.refused else ""
        return {"label": item.label, "why": why}
    kinds = Counter[str]()
    for notice in found.notices:
        kinds[notice.kind] += notice.count
    return {
        "label": item.label,
        "pair": veil.pair(found.ru_id, found.tu_id),
        "key": formats.key(found.dialog_key),
        "why": partly(item)
        + ("" if found.chunks else "Nothing to write: no text in it can be kept. ")
        + found.key_reason,
        **{state: found.count(state) for state in ("new", "stale", "unchanged")},
        "cut": kinds["cut"],
        "dropped": sum(kinds[kind] for kind in DROPPED),
    }


def partly(item: DialogPreview) -> str:
    """Marks numbers that speak of the first windows only; all of them are ingested."""
    return f"First {item.previewed} of {item.windows:,} windows. " if 1 < item.previewed < item.windows else ""


def detail(item: DialogPreview) -> None:
    """The chunks of one dialog with their state, and every notice about it."""
    if item.preview is None:
        return
    plain = _shower(item.preview)
    left, right = st.columns((3, 2))
    with left, panel("Its chunks", "As they would be stored, in the order of the payload."):
        rows = [
            {
                "state": part.state,
                "source": part.chunk.source,
                "source_id": plain(part.chunk.source_id),
                "at": part.chunk.note_date or part.chunk.sent_at,
                "text": plain(part.chunk.text),
            }
            for part in item.preview.chunks
        ]
        tables.show(rows, CHUNKS, key=f"preview-chunks-{item.number}", zone=my_zone_name())
    with right, panel("What was odd", "Cut, dropped or missing, and how often."):
        notices = [{**vars(notice), "message": plain(notice.message)} for notice in item.preview.notices]
        if notices:
            tables.show(notices, NOTICES, key=f"preview-notices-{item.number}", zone="UTC", height="content")
        else:
            st.text("Nothing.")


def _shower(found: Preview) -> Callable[[str], str]:
    """Texts as this view shows them. Nothing need be stored of these people yet: the dialog itself says their names."""
    if veil.revealed(found.dialog_key):
        return str
    names = (part.chunk.text for part in found.chunks if part.chunk.source == "profile")
    named = tuple(text.removeprefix(NAME_LINE) for text in names if text.startswith(NAME_LINE))
    mask = Mask(Known(named, tuple(id for id in (found.ru_id, found.tu_id) if id)))
    stored = veil.shower(found.dialog_key)
    return lambda text: stored(mask.text(text))


def matches(origin: tuple[str, str] | None) -> None:
    """For a snapshot: which of its messages and notes memory holds already, by source, text and date."""
    if origin is None:
        return
    found = reading.snapshot_body(*origin).value
    plain = veil.shower(origin[0])
    says = (
        f"{found.found:,} of {len(found.matches):,} are stored already with the same text and date; "
        "they keep their id, so that they are not stored twice."
    )
    rows = [
        {
            "state": "stored" if match.source_id is not None else "new",
            "entity": match.entity_type,
            "date": match.date,
            "source_id": match.source_id,
            "text": plain(match.text),
        }
        for match in found.matches
    ]
    with panel("Matches with memory", says):
        tables.show(rows, MATCHES, key="snapshot-matches", zone="UTC")
        tables.downloads(rows, [c.field for c in MATCHES], name="snapshot-matches", key="matches-file")
