"""Erase: every trace of one dialog, counted by table first, with a reason; and the records of erasures."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.memory.erasures import REASONS, ErasePreview
from core.services.erase import Erased
from pages._shared import formats, session, tables, veil
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.literal import words
from pages._shared.operations import mending, outcome, typed
from pages._shared.session import DialogChoice
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

TABLE = (Column("table", "Table"), Column("rows", "Rows", "count"))
RECORDS = (
    Column("at", "When", "when"),
    Column("reason", "Reason", width=240),
    Column("who", "By", width=160),
    Column("rows", "Rows", "count"),
)


def show(head: Head) -> None:
    read = mending.erasures()
    head.as_of(read.at)
    stale(read)
    _written_again()
    chosen = session.dialog()
    if chosen is None:
        empty("No dialog is open", "Open the dialog whose person is to be erased, then come back here.")
        st.page_link(place("dialogs").path, label="Dialogs", icon=place("dialogs").icon)
    else:
        with boundary("The preview of the erasure"):
            _one(chosen)
    rows = [
        {
            "at": row.erased_at,
            "reason": REASONS.get(row.reason, row.reason),
            "who": row.actor.get("display_name"),
            "rows": sum(row.counts.values()),
        }
        for row in read.value.rows
    ]
    if rows:
        with panel("Erasures", "Nothing of the person is in these records: a key is known by its salted hash alone."):
            tables.show(rows, RECORDS, key="erasures", zone=my_zone_name(), height="content")


def _written_again() -> None:
    again = mending.state().value.written_again
    if not again:
        return
    with panel("Erased, and written again", "Another writer, or an old upload, brought these dialogs back."):
        for row in again:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge("written again", color="red")
                st.text(f"erased {formats.moment(formats.parse(row['erased_at']), my_zone())}")
                st.button(
                    "Open it",
                    key=f"again-{row['id']}-{row['dialog_key']}",
                    on_click=session.choose_dialog,
                    args=(DialogChoice(row["dialog_key"]),),
                )
            st.code(row["dialog_key"], language=None, wrap_lines=True)


def _one(chosen: DialogChoice) -> None:
    with panel("Erase a person", "Database, records that wait on disk, uploads, logs. It cannot be undone."):
        st.markdown(words(veil.pair(chosen.ru_id, chosen.tu_id)))
        found = mending.erase_preview(chosen.dialog_key, ()).value
        also: tuple[str, ...] = ()
        if found.others:
            chunks = sum(int(other["chunks"]) for other in found.others)
            label = f"Also the {formats.plural(len(found.others), 'other key')} of this pair ({chunks:,} chunks)"
            if st.checkbox(label, value=True, key="erase-others"):
                also = tuple(str(other["dialog_key"]) for other in found.others)
                found = mending.erase_preview(chosen.dialog_key, also).value
        for key in found.keys:
            st.code(key, language=None, wrap_lines=True)
        if not found.rows:
            st.text("Nothing of it is in the database. An erasure still looks through the files of this machine.")
        _counts(found)
        reason = st.selectbox("Reason", list(REASONS), format_func=REASONS.__getitem__, key="erase-reason", width=320)
        label = f"Erase {formats.plural(found.rows, 'row')}"
        if typed.button(label, "erase", key="erase"):
            _run(chosen.dialog_key, reason, also)


def _counts(found: ErasePreview) -> None:
    rows = [{"table": name, "rows": number} for name, number in found.tables.items()]
    if rows:
        tables.show(rows, TABLE, key="erase-tables", zone="UTC", height="content")
    if "token_usage_log" in found.tables:
        st.caption("Usage rows keep their numbers, so that totals stay, and lose whose they were.")


def _run(dialog_key: str, reason: str, also: tuple[str, ...]) -> None:
    done = outcome.attempt("Erase", partial(mending.erase, dialog_key, reason, also))
    if done is not None:
        outcome.say("done", _words(done))
        if done.left:
            outcome.say("error", f"Not reached: {', '.join(done.left)}. Erase again to look for what is left.")
        typed.done("erase")
    st.rerun()


def _words(done: Erased) -> str:
    return (
        f"Erased: {formats.plural(done.rows, 'row')}, {formats.plural(done.spooled, 'waiting record')}, "
        f"{formats.plural(done.uploads, 'dialog')} in uploads, {formats.plural(done.log_places, 'place')} in logs. "
        "Should another writer bring it back, Health and the next ingest say so."
    )
