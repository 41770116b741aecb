"""A pin: keep one snapshot beyond its expiry, with a reason and an end."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import streamlit as st

from core.errors import CoreError
from core.services.pins import PIN_DAYS, REASON_LIMIT
from core.snapshots.rows import StoredSnapshot
from pages._shared import formats
from pages._shared.parts import only
from pages._shared.snapshots import acting
from pages._shared.zone import my_zone

FAILED = "desk.pin.failed"


@only("snapshots_pin")
def show(row: StoredSnapshot) -> None:
    """What the pin is, and the way to let go; else a form for one."""
    if failed := st.session_state.pop(FAILED, None):
        st.error(failed)
    if row.pinned_until:
        who = (row.pin_actor or {}).get("display_name", "somebody")
        until = formats.moment(formats.parse(row.pinned_until), my_zone())
        st.text(f"Pinned until {until} by {who}: {row.pin_reason}")
        st.button("Let go of it", key=f"unpin-{row.id}", on_click=_unpin, args=(row.id,))
        return
    expires = formats.parse(row.expires_at)
    if expires is None:
        st.caption("It has no expiry: clean-up never takes it, and it needs no pin.")
        return
    today = datetime.now(UTC).date()
    with st.form(f"pin-{row.id}", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Reason to keep it", key=f"reason-{row.id}", max_chars=REASON_LIMIT, width=320)
        st.date_input(
            "Until the end of",
            value=today + timedelta(days=30),
            min_value=today,
            max_value=today + timedelta(days=PIN_DAYS),
            key=f"until-{row.id}",
            format="YYYY-MM-DD",
            width=160,
        )
        st.form_submit_button("Pin", icon=":material/keep:", on_click=_pin, args=(row.id,))
    st.caption(
        f"Expires {formats.moment(expires, my_zone())}. A pin keeps it {PIN_DAYS} days at most; "
        "an erasure of the person takes it all the same."
    )


def _pin(snapshot_id: str) -> None:
    reason, until = st.session_state[f"reason-{snapshot_id}"], st.session_state[f"until-{snapshot_id}"]
    try:
        acting.pin(snapshot_id, reason or "", until if isinstance(until, date) else datetime.now(UTC).date())
    except CoreError as error:
        st.session_state[FAILED] = f"Not pinned. {error}"


def _unpin(snapshot_id: str) -> None:
    try:
        acting.unpin(snapshot_id)
    except CoreError as error:
        st.session_state[FAILED] = f"The pin stays. {error}"
