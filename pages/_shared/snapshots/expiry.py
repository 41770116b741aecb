"""Expiry: what clean-up would delete, what it leaves and why, the clean-up itself, and who does it daily."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.snapshots.retention import Expiry
from pages._shared import address, formats, reads, session, tables
from pages._shared.feedback import boundary, empty, stale
from pages._shared.fragments import fragment
from pages._shared.layout import panel
from pages._shared.parts import only
from pages._shared.reads import Read
from pages._shared.resources import core
from pages._shared.session import DialogChoice
from pages._shared.snapshots import acting, entities, reading
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

STATES = {"expiring": "Expiring", "expired": "Expired", "pinned": "Pinned", "without_expiry": "Without an expiry"}
WORDS = {"expiring": "about to expire", "without_expiry": "without an expiry"}
SEEN = "desk.cleanup.seen"
DONE = "desk.cleanup.done"
PRESS = "desk.cleanup.press"  # made with the preview, so that a double click starts one job
JOB = "cleanup-job"
EVERY_S = 1.0
COLUMNS = (
    Column("kind", "Type", pinned=True),
    Column("expired", "Expired", "count"),
    Column("without", "No expiry", "count"),
)


def show(chosen: DialogChoice | None, read: Read[Expiry]) -> None:
    left, right = st.columns(2)
    with (
        left,
        panel("Clean-up", "Deletes what is past its expiry, batch by batch. Pinned rows and rows without one stay."),
    ):
        _cleanup(read.value)
    with right, panel("Every day", "Who deletes expired snapshots without being asked."), boundary("The schedule"):
        _schedule()
    state = address.segments("State", STATES, "state", default="expiring", help="Expiring: within the next 24 hours.")
    page = session.page_number("entities")
    found = reading.entities(None, chosen.dialog_key if chosen else None, None, state, page)
    stale(found)
    if not found.value.total:
        empty(f"No snapshot is {WORDS.get(state, state)}", "The other states are beside it.")
        return
    with panel("Snapshots by expiry", "Soonest first. Click a row to see it whole, and to pin it."):
        entities.listing(found.value.rows, found.value.total, page, key=f"state-{state}")


@only("snapshots_cleanup")
def _cleanup(now: Expiry) -> None:
    if job_id := session.remembered(JOB, None):
        _running(job_id)
        return
    if done := st.session_state.pop(DONE, None):
        st.success(done)
    seen: Expiry | None = st.session_state.get(SEEN)
    if st.button("Preview", key="cleanup-preview", icon=":material/visibility:"):
        with boundary("The preview"):
            seen = st.session_state[SEEN] = acting.preview()
            st.session_state[PRESS] = str(uuid.uuid4())
    if seen is None:
        would = f"{formats.plural(now.expired, 'snapshot')} would go. Look at a preview before anything is deleted."
        st.text(would if now.expired else "No snapshot is past its expiry: there is nothing to delete.")
        return
    rows: list[dict[str, Any]] = [
        {"kind": kind, "expired": seen.by_type.get(kind), "without": seen.without_by_type.get(kind)}
        for kind in sorted({*seen.by_type, *seen.without_by_type})
    ]
    oldest = formats.ago(formats.parse(seen.oldest), datetime.now(UTC))
    st.text(
        f"{formats.plural(seen.expired, 'snapshot')} would go, the oldest expired {oldest}. "
        f"{formats.plural(seen.pinned_expired, 'expired and pinned one stays', 'expired and pinned ones stay')}; "
        f"{formats.count(seen.without_expiry)} without an expiry stay too."
    )
    if rows:
        tables.show(rows, COLUMNS, key="cleanup-types", zone=my_zone_name(), height="content")
    if seen.expired:
        st.button(
            f"Delete {formats.plural(seen.expired, 'snapshot')}",
            key="cleanup-run",
            type="primary",
            on_click=_start,
            args=(seen.expired, st.session_state.setdefault(PRESS, str(uuid.uuid4()))),
        )


def _start(expired: int, press: str) -> None:
    with boundary("The clean-up"):
        session.remember(JOB, acting.cleanup(expired, press))
        st.session_state.pop(SEEN, None)


@fragment(run_every=EVERY_S)
def _running(job_id: str) -> None:
    """How far it is, and a way to stop it; once it has ended the whole page runs again."""
    with boundary("The clean-up"):
        job = core().jobs.get(job_id)
        if job.live:
            st.progress(job.fraction, job.message or "Waiting for its turn")
            st.button("Stop", key="cleanup-stop", icon=":material/stop:", on_click=acting.stop, args=(job_id,))
            st.caption("It goes on when this page is left; the Operations page lists it.")
            return
        session.remember(JOB, None)
        deleted = formats.plural(int((job.result or {}).get("deleted") or 0), "expired snapshot")
        st.session_state[DONE] = f"{deleted} deleted{'' if job.state == 'done' else f', then {job.state}'}."
        reads.refresh()
        st.rerun()


@only("snapshots_cleanup")
def _schedule() -> None:
    found = reading.schedule().value
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(
            {"app": "on", "pg_cron": "on", "nobody": "off"}[found.by], color="green" if found.by != "nobody" else "gray"
        )
        st.text(found.reason)
    st.caption(f"Last run: {found.last_day} (UTC)." if found.last_day else "It has not run yet.")
    seen: Expiry | None = st.session_state.get(SEEN)
    if found.needs_confirmation:
        st.caption(
            "Look at a preview first; your yes is recorded with it." if seen is None else "You have seen the preview."
        )
        st.button(
            "Delete daily from now on",
            key="schedule-on",
            disabled=seen is None,
            on_click=_confirm,
            args=(True, seen),
        )
    elif found.confirmed_at:
        st.caption(f"Confirmed by {found.confirmed_by or 'somebody'} on {found.confirmed_at[:10]}.")
        st.button("Stop the daily clean-up", key="schedule-off", on_click=_confirm, args=(False, seen))


def _confirm(confirmed: bool, seen: Expiry | None) -> None:
    with boundary("The schedule"):
        acting.confirm_schedule(confirmed, seen or acting.preview())
