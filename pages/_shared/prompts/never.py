"""Of the dialog in hand: what no recorded search ever returned. And for how long anything is recorded."""

from __future__ import annotations

import streamlit as st

from core.errors import CoreError
from core.retrievals.retrievals import DAYS_LEAST, DAYS_MOST
from pages._shared import actions, formats, reads, session, tables, veil
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.parts import only
from pages._shared.prompts import reading
from pages._shared.session import DialogChoice
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("source", "Source", width=105),
    Column("text", "Text"),
    Column("date", "Date", width=130),
    Column("embedding_model", "Model", width=150),
)


def show(dialog: DialogChoice) -> None:
    with boundary("Chunks never retrieved"):
        page = session.page_number("never")
        found = reading.never(dialog.dialog_key, page).value
        since = formats.parse(found.first_at)
        out_of = f"out of {formats.plural(found.records, 'recorded search', 'recorded searches')}"
        says = f"Of {veil.pair(dialog.ru_id, dialog.tu_id)}: {out_of} since {formats.moment(since, my_zone())}."
        with panel("Chunks that no recorded search returned", says if found.records else ""):
            if not found.records:
                st.text("No search of this dialog is recorded: nothing can be said about its chunks.")
                return
            sources = ", ".join(f"{source} {n}" for source, n in found.by_source.items())
            st.text(f"{found.total:,} of {formats.plural(found.chunks, 'chunk')}{': ' + sources if sources else '.'}")
            rows = [{**row, "date": reading.date_of(row["note_date"], row["sent_at"])} for row in found.rows]
            if rows:
                tables.show(rows, COLUMNS, key=f"never-{page}", zone=my_zone_name())
                pages = max(1, -(-found.total // reads.PAGE))
                with st.container(horizontal=True, horizontal_alignment="distribute"):
                    if pages > 1:
                        st.pagination(pages, key="never", bind="query-params", width=280)
                    fields = (
                        "id",
                        "source",
                        "source_id",
                        "text",
                        "note_date",
                        "sent_at",
                        "embedding_model",
                        "updated_at",
                    )
                    tables.downloads(rows, fields, name="never-retrieved", key="never-file")


@only("retrieval_retention")
def retention() -> None:
    """For how many days records are kept; a new number is a decision, and an event."""
    days = reading.totals(None).value.days
    says = "Older records are deleted within the hour. Erasing a person takes theirs at once, whatever stands here."
    with panel("How long searches are recorded", says), st.form("retention", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            wanted = st.number_input("Days", DAYS_LEAST, DAYS_MOST, days, width=140)
            pressed = st.form_submit_button("Save")
        if pressed and int(wanted) == days:
            st.toast(f"Kept for {formats.plural(days, 'day')}, as before.")
        elif pressed:
            try:
                actions.keep_retrievals(int(wanted))
            except CoreError as error:
                st.error(str(error))
            else:
                st.toast(f"Kept for {formats.plural(int(wanted), 'day')} from now on.")
                st.rerun()
