"""One dialog: freshness, sources, both keys of the pair, its days, its chunks."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from core.memory.dialogs import DialogRow, DialogStatus
from pages._shared import charts, formats, layout, reads, tables, veil
from pages._shared.dialogs import chunks, taking_out
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, panel
from pages._shared.literal import words
from pages._shared.operations import outcome, superseded
from pages._shared.prompts import reading as prompts
from pages._shared.session import DialogChoice, choose_dialog
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

ORDERS = {
    "tips": "made from RU then TU (the tips flow)",
    "generic": "made from TU then RU (the generic memory API)",
    "custom": "given by the caller",
    "unknown": "made with a missing id: different people may share it",
}


def show(choice: DialogChoice, head: Head) -> None:
    found, status = reads.dialog(choice.dialog_key), reads.status((choice.dialog_key,))
    head.as_of(found.at, status.at)
    outcome.show()
    stale(found)
    if found.value is None:
        empty("This dialog is no longer stored", "Its chunks were removed or merged since the list was read.")
        return
    row = found.value
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"#### {words(veil.pair(row.ru_id, row.tu_id))}")
        with st.container(horizontal=True, width="content"):
            if st.button("Its searches", icon=place("prompts").icon, help="What was asked of it, and what came back."):
                prompts.ask_for_dialog()
                st.switch_page(place("prompts").path, query_params={})
            if st.button("Search in this dialog", icon=place("search").icon, type="primary"):
                st.switch_page(place("search").path, query_params={})
    _figures(row, status.value[row.dialog_key])
    if row.also_under:  # something is wrong with it: before everything else
        _keys(row)
    left, right = st.columns((1, 2))
    with left:
        charts.card(
            "Chunks by source (rows)",
            "What is known, by where it came from.",
            charts.by_source(row.sources, "chunks"),
            key="dialog-sources",
            table=partial(charts.source_table, row.sources, "Chunks", "dialog-sources-rows"),
        )
    with right:
        _days(row.dialog_key)
    chunks.show(row.dialog_key)
    if not row.also_under:
        _keys(row)
    superseded.away(row.dialog_key)


def _figures(row: DialogRow, status: DialogStatus) -> None:
    zone, now = my_zone(), datetime.now(UTC)
    note = formats.day(status.last_note_at)
    instants = {
        "Last message": status.last_message_at,
        "Profile seen": status.profile_updated_at,
        "Photo seen": status.photo_updated_at,
        "Last ingest": status.last_ingest_at,
    }
    layout.figures(
        Figure("Chunks", formats.count(row.chunks)),
        Figure("Last note", formats.days_ago(note, now.astimezone(zone).date()), formats.moment(note, zone)),
        *(
            Figure(label, formats.ago(formats.parse(at), now), formats.moment(formats.parse(at), zone))
            for label, at in instants.items()
        ),
    )


def _keys(row: DialogRow) -> None:
    with panel("Keys of this pair", f"This key is {ORDERS.get(row.order, row.order)}."):
        st.code(row.dialog_key, language=None, wrap_lines=True)
        if not row.also_under:
            st.caption("No chunks stand under the other order of the same pair.")
            taking_out.ways()
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("ambiguous", color="orange")
            st.text(
                "The same pair also has chunks under the other order; a search in one dialog does not see the other."
            )
        st.code(row.also_under, language=None, wrap_lines=True)
        st.button(
            "Open the other one",
            icon=":material/swap_horiz:",
            on_click=choose_dialog,
            args=(DialogChoice(row.also_under, row.ru_id, row.tu_id),),
        )
        taking_out.ways(row.dialog_key, row.also_under)


def _days(dialog_key: str) -> None:
    read = reads.timeline(dialog_key)
    days = [(d.day, d.source, d.chunks) for d in read.value]
    if not days:
        empty("No dated chunk", "Only messages and notes carry a date, and this dialog has none with one.")
        return
    rows = [{"day": day, "source": source, "chunks": number} for day, source, number in days]
    columns = (Column("day", "Day", "day"), Column("source", "Source"), Column("chunks", "Chunks", "count"))

    def table() -> None:
        tables.show(rows, columns, key="days", zone=my_zone_name())
        tables.downloads(rows, [c.field for c in columns], name="chunks-by-day", key="days-file")

    charts.card(
        "Chunks by day (rows)",
        f"Dated chunks by their own day in {my_zone_name()}; days without any stay empty.",
        charts.by_day(days, "chunks"),
        key="dialog-days",
        table=table,
    )
