"""What a grader sees of the sheet: the chunks with their own grades, and those of others once they have graded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.tuning.labelling import Sheet
from core.tuning.labels import Judgement, LabelledQuery
from core.tuning.pooling import Pooled
from pages._shared import formats, session, tables, veil
from pages._shared.layout import panel
from pages._shared.tables import Column
from pages._shared.tuning import reading
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("place", "No.", "count", width=50, pinned=True),
    Column("mine", "My grade", "count", width=75),
    Column("others", "Others", width=130, help="Other people's grades, once you have graded; models are marked."),
    Column("source", "Source", width=98),
    Column("text", "Text", width=520),
    Column("why", "Why", width=200),
)


def mine(query: LabelledQuery) -> dict[str, Judgement]:
    """What the one who is here gave, by chunk id."""
    me = session.actor().principal_id
    return {j.chunk_id: j for j in query.judgements if j.judge == me and j.label_source == "person"}


def about(chunk: Pooled, place: int, total: int) -> str:
    """Where it stands on the sheet, its date, and how many more have the same words."""
    row = chunk.row
    dated = row.note_date or (row.sent_at or "")[:10]
    parts = [f"{place + 1} of {total}", dated, row.direction or ""]
    if chunk.same:
        parts.append(
            f"the same words stand in {formats.plural(len(chunk.same), 'more chunk')}: they get this grade too"
        )
    if row.superseded:
        parts.append("superseded by a newer text")
    return " · ".join(part for part in parts if part)


def listing(
    query: LabelledQuery,
    sheet: Sheet,
    place: int,
    given: dict[str, Judgement],
    jump: Callable[[str, int], None],
) -> None:
    """Every chunk of the sheet; a click takes it up. Beneath, what two people see differently, and what is gone."""
    rows = [_row(number, chunk, query, given) for number, chunk in enumerate(sheet.chunks, start=1)]
    with panel("The sheet", "Click a row to take it up."):
        key = f"sheet-{query.id}-{place}-{len(given)}"
        chosen = tables.show(rows, COLUMNS, key=key, zone=my_zone_name(), select=True, height="auto")
        tables.downloads(rows, [c.field for c in COLUMNS], name="sheet", key="sheet-file")
    if chosen is not None and chosen != place:
        jump(query.id, chosen)
        st.rerun(scope="fragment")
    _disputed(query, sheet)
    if gone := query.gone():
        names = ", ".join(sorted({f"{j.source} {j.source_id or ''} (grade {j.grade})".strip() for j in gone}))
        st.text(f"No longer stored, and counting for nothing: {names}.")


def _row(number: int, chunk: Pooled, query: LabelledQuery, given: dict[str, Judgement]) -> dict[str, Any]:
    me = given.get(chunk.row.id)
    others = [j for j in query.judgements if j.chunk_id == chunk.row.id and (me is None or j.id != me.id)]
    told = ", ".join(f"{j.judge} {j.grade}" + (" (model)" if j.label_source == "llm" else "") for j in others)
    return {
        "place": number,
        "mine": me.grade if me else None,
        "others": (told or None) if me else ("hidden" if others else None),
        "source": chunk.row.source,
        "text": veil.text(chunk.row.text, query.dialog_key),
        "why": me.why if me else None,
    }


def _disputed(query: LabelledQuery, sheet: Sheet) -> None:
    found = query.disputed()
    if not found:
        return
    plain = veil.shower(query.dialog_key)
    texts = {row.id: row.text for row in sheet.found.texts.values()}
    with st.expander(f"{formats.plural(len(found), 'chunk')} graded differently by two people", type="compact"):
        st.text("The lower grade counts until they agree.")
        for chunk_id, judgements in found.items():
            words = texts.get(chunk_id, "a chunk that is no longer stored")
            st.text(formats.snippet(plain(words), 160))
            rows = [
                {
                    "judge": g.judge,
                    "grade": g.grade,
                    "why": veil.text(g.why, query.dialog_key) if g.why else None,
                    "at": g.created_at,
                }
                for g in reading.history(query.id, judgements[0].parts_hash)
            ]
            columns = (
                Column("judge", "Judge"),
                Column("grade", "Grade", "count"),
                Column("why", "Why", width=300),
                Column("at", "When", "when"),
            )
            tables.show(rows, columns, key=f"dispute-{chunk_id}", zone=my_zone_name(), height="content")
