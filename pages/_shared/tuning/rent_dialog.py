"""Findings in one dialog: equal and nearly equal chunks, old notes, and notes that may contradict each other."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.tuning.rent import NEAR_COSINE, STALE_DAYS
from core.tuning.rent_report import Chunk, DialogRent
from pages._shared import formats, tables, veil
from pages._shared.feedback import empty, stale
from pages._shared.layout import Figure, figures, panel
from pages._shared.session import DialogChoice
from pages._shared.tables import Column
from pages._shared.tuning import rent_reading
from pages._shared.zone import my_zone_name

PAIRS = (
    Column("text", "Chunk", width=330),
    Column("other", "The other one", width=330),
    Column("sources", "Sources", width=150),
    Column("cosine", "Cosine", "score"),
)
EQUAL = (Column("text", "Text", width=480), Column("times", "Times", "count"), Column("sources", "Sources", width=200))
OLD = (
    Column("text", "Note", width=480),
    Column("source", "Source", width=95),
    Column("note_date", "Date", "day"),
    Column("why", "Why", width=160),
)
CLASHES = (
    Column("first", "Earlier note", width=300),
    Column("second", "Later note", width=300),
    Column("rule", "Rule", width=90),
    Column("shared", "Both speak of", width=180),
    Column("dates", "Dates", width=170),
)
RULES = (
    "Candidates by rule, not facts: two notes that share words and differ in one of a denial (denied), their numbers "
    "(number), or an opposite word (opposite). Read both before you change anything."
)


def show(chosen: DialogChoice | None) -> None:
    """For the dialog in hand."""
    if chosen is None:
        empty(
            "No dialog is open", "Open one on the Dialogs page to look for repetitions and old or contradicting notes."
        )
        return
    with panel(f"Findings in the open dialog ({veil.pair(chosen.ru_id, chosen.tu_id)})"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            cosine = st.number_input(
                "Nearly equal from cosine",
                0.80,
                1.0,
                NEAR_COSINE,
                0.01,
                key="rent-cosine",
                width=190,
                help="0.96 fits the local model; other models spread otherwise.",
            )
            days = st.number_input("Old after (days)", 7, 3650, STALE_DAYS, key="rent-days", width=150)
        read = rent_reading.dialog(chosen.dialog_key, float(cosine), int(days))
        stale(read)
        _figures(read.value)
    _draw(read.value, chosen.dialog_key)


def _figures(found: DialogRent) -> None:
    compared = f"The newest {found.compared:,} of {found.comparable:,} chunks of the active model were compared."
    figures(
        Figure(
            "Equal",
            formats.count(found.equal_total),
            "Texts that are there more than once, white space and case aside.",
        ),
        Figure("Nearly equal", formats.count(found.near_total), f"Pairs. {compared}"),
        Figure("Old notes", formats.count(found.old_total), "By their date, or replaced by a newer text."),
        Figure(
            "May contradict",
            formats.count(len(found.contradictions)),
            f"Pairs among the newest {found.notes:,} of {found.notes_total:,} notes and profile lines.",
        ),
    )


def _draw(found: DialogRent, dialog_key: str) -> None:
    plain = veil.shower(dialog_key)
    _table(
        "Equal chunks (rows)", "The same words under another id.", _equal(found), EQUAL, "rent-equal", found.equal_total
    )
    near = [
        {"text": a.text, "other": b.text, "sources": _sources(a, b), "cosine": cosine, "ids": f"{a.id} {b.id}"}
        for a, b, cosine in found.near
    ]
    _table("Nearly equal chunks (rows)", "The nearest pairs first.", near, PAIRS, "rent-near", found.near_total)
    old = [
        {"text": chunk.text, "source": chunk.source, "note_date": chunk.note_date, "why": _why(aged, replaced)}
        for chunk, aged, replaced in found.old
    ]
    _table("Old notes (rows)", "Still searched like any other.", old, OLD, "rent-old", found.old_total)
    clashes = [
        {
            "first": c.first.text,
            "second": c.second.text,
            "rule": c.rule,
            "shared": plain(", ".join(c.shared)),
            "dates": f"{c.first.note_date or '–'}, {c.second.note_date or '–'}",
        }
        for c in found.contradictions
    ]
    _table("Notes that may contradict (rows)", RULES, clashes, CLASHES, "rent-clashes", len(clashes))


def _table(
    title: str, says: str, rows: list[dict[str, Any]], columns: tuple[Column, ...], key: str, total: int
) -> None:
    if not rows:
        return
    more = f" The first {len(rows):,} of {total:,}." if total > len(rows) else ""
    with panel(title, says + more):
        tables.show(rows, columns, key=key, zone=my_zone_name(), height="content" if len(rows) < 9 else 320)
        tables.downloads(rows, [c.field for c in columns], name=key, key=f"{key}-file")


def _equal(found: DialogRent) -> list[dict[str, Any]]:
    return [{"text": group[0].text, "times": len(group), "sources": _sources(*group)} for group in found.equal]


def _sources(*chunks: Chunk) -> str:
    return ", ".join(dict.fromkeys(chunk.source for chunk in chunks))


def _why(aged: bool, replaced: bool) -> str:
    return ", ".join(word for word, said in (("old", aged), ("superseded", replaced)) if said)
