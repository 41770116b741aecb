"""Clean up: expired snapshots, counted before anything is deleted, then deleted by a job that can be stopped."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._shared import formats, reads, tables
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import acting, outcome
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.zone import my_zone

FORM = "cleanup"
ASKED = "desk.cleanup.asked"


def show(head: Head) -> None:
    read = reads.snapshots("expiry")
    head.as_of(read.at)
    stale(read)
    found = read.value
    figures(
        Figure("Expired", formats.count(found.expired), "What a clean-up would delete: its expiry is past."),
        Figure("Pinned", formats.count(found.pinned), f"{found.pinned_expired:,} of them expired; never deleted."),
        Figure("Without an expiry", formats.count(found.without_expiry), "Left alone: nobody said when they may go."),
        Figure("Expiring in 24 hours", formats.count(found.expiring_24h)),
        Figure("All snapshots", formats.count(found.total)),
    )
    st.page_link(place("snapshots").path, label="Look at them, and pin some", icon=place("snapshots").icon)
    if not found.expired:
        empty("No snapshot is expired", "The existing service never deletes them; they are kept for 14 days.")
        return
    rows = [{"type": kind, "rows": number} for kind, number in found.by_type.items()]
    oldest = formats.moment(formats.parse(found.oldest), my_zone())
    with panel("Expired snapshots by type (rows)", f"The oldest expired at {oldest}."):
        tables.show(
            rows, (Column("type", "Type"), Column("rows", "Rows", "count")), key="expired", zone="UTC", height="content"
        )
        tables.downloads(rows, ["type", "rows"], name="expired-snapshots", key="expired-file")
    st.button(
        f"Delete {formats.plural(found.expired, 'snapshot')}…",
        key="cleanup-ask",
        icon=":material/delete:",
        on_click=st.session_state.__setitem__,
        args=(ASKED, found.expired),
    )
    if st.session_state.get(ASKED):
        _confirm()


@st.dialog("Delete the expired snapshots?", on_dismiss=lambda: st.session_state.pop(ASKED, None))
def _confirm() -> None:
    asked = int(st.session_state.get(ASKED) or 0)
    st.text(
        f"This deletes about {formats.plural(asked, 'row')}, in batches of 1,000, and cannot be undone. "
        "Pinned rows and rows that are not expired stay; their hashes stay in the ledger for a year."
    )
    with st.container(horizontal=True):
        st.button("Delete them", key="cleanup-start", type="primary", on_click=_start, args=(asked,))
        st.button("Keep them", key="cleanup-keep", on_click=lambda: st.session_state.pop(ASKED, None))


def _start(expired: int) -> None:
    st.session_state.pop(ASKED, None)
    form = outcome.form_id(FORM)
    job = outcome.attempt("Clean-up", partial(acting.start_cleanup, expired, form=form))
    if job is not None:
        outcome.say("started", "The clean-up was started. It can be stopped between two batches.")
        outcome.new_form(FORM)
