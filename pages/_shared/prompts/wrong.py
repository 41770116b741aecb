"""Reports of wrong context: one chunk of one record, with a reason; taken back with a click, never deleted."""

from __future__ import annotations

import streamlit as st

from core.errors import CoreError
from core.retrievals.record import WRONG, Retrieval, RetrievedChunk, WrongContext
from pages._shared import actions, formats, parts, reads, session, tables
from pages._shared.layout import panel
from pages._shared.parts import only
from pages._shared.prompts import reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("at", "Reported", "when", width=130),
    Column("reason", "Reason", width=240),
    Column("source", "Source", width=105),
    Column("rank", "Place", "count", width=60),
    Column("key", "Dialog", width=100),
    Column("state", "State", width=150),
)


@only("report_context")
def form(record: Retrieval, chunk: RetrievedChunk) -> None:
    """Says that this chunk should not have been there."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        reason = st.selectbox(
            "Wrong context because it", list(WRONG), format_func=WRONG.__getitem__, key="wrong-reason", width=280
        )
        if st.button("Report wrong context", icon=":material/flag:", key=f"wrong-{chunk.rank}"):
            try:
                actions.report_context(record.id, chunk.rank, reason)
            except CoreError as error:
                st.error(str(error))
            else:
                st.toast("Reported. It stands beneath, and in Activity.")
                st.rerun()
    st.caption("A report changes nothing in the memory. To keep a chunk out of prompts, take it out on Dialogs.")


def reported(record: Retrieval) -> None:
    """What was reported about this record, newest last."""
    for report in record.wrong:
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            _line(report)


def _line(report: WrongContext) -> None:
    who = report.actor.get("display_name") or "somebody"
    when = formats.moment(formats.parse(report.at), my_zone())
    st.badge("withdrawn" if report.withdrawn_at else "reported", color="gray" if report.withdrawn_at else "orange")
    st.text(f"{report.rank}. {report.source}: {WRONG.get(report.reason, report.reason)}. {who}, {when}.")
    if report.withdrawn_at is None and parts.button(
        "report_context", "Take back", key=f"withdraw-{report.id}", type="tertiary"
    ):
        try:
            actions.withdraw_context(report.id)
        except CoreError as error:
            st.error(str(error))
        else:
            st.rerun()


def listed(dialog_key: str | None) -> None:
    """Every report, newest first; a row opens its record where that is still kept."""
    page = session.page_number("reports")
    found = reading.wrong(dialog_key, page).value
    if not found.total:
        return
    counts = ", ".join(f"{WRONG.get(reason, reason)}: {n}" for reason, n in found.by_reason.items())
    with panel("Reports of wrong context", counts or "All were taken back."):
        rows = [
            {
                "at": report.at,
                "reason": WRONG.get(report.reason, report.reason),
                "source": report.source,
                "rank": report.rank,
                "key": formats.key(report.dialog_key),
                "state": "withdrawn"
                if report.withdrawn_at
                else "stands"
                if report.recorded
                else "stands, record pruned",
            }
            for report in found.rows
        ]
        picked = tables.show(rows, COLUMNS, key=f"reports-{page}-{found.total}", zone=my_zone_name(), select=True)
        pages = max(1, -(-found.total // reads.PAGE))
        if pages > 1:
            st.pagination(pages, key="reports", bind="query-params", width=280)
    if picked is not None and found.rows[picked].recorded:
        reading.choose(found.rows[picked].retrieval)
        st.rerun()
