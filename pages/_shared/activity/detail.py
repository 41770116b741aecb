"""One event, whole: who, what, before and after, why; and the ways on from it."""

from __future__ import annotations

import streamlit as st

from core.events.acts import BY, by_of
from core.events.store import StoredEvent
from pages._shared import formats, tables
from pages._shared.activity import filters, links
from pages._shared.activity.facts import facts, target, who, why
from pages._shared.layout import panel
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (Column("what", "What"), Column("before", "Before"), Column("after", "After", width="large"))


def show(event: StoredEvent) -> None:
    zone = my_zone()
    title, says = (
        f"{formats.event(event.type)}, row {event.seq:,}",
        f"{event.type}: {event.event_class}, {event.app_id}",
    )
    with panel(title, says, key="event-detail"):
        said = f"{BY[by_of(event.actor)]}, {event.actor.principal_id}"
        st.text(f"{formats.moment(event.timestamp, zone)}  {who(event)} ({said})")
        if target(event):
            st.text(f"On: {target(event)}")
        if why(event):
            st.text(f"Reason: {why(event)}")
        rows = [vars(fact) for fact in facts(event.payload)]
        if rows:
            tables.show(rows, COLUMNS, key="event-facts", zone=my_zone_name(), height="content")
        _ways(event)


def _ways(event: StoredEvent) -> None:
    """Follow what it names; each only where it names it."""
    payload = event.payload
    ways = {
        "Follow this dialog": payload.get("dialog_key"),
        "Follow this request": payload.get("request_id"),
        "Follow this record": event.record_id if event.record_id != payload.get("dialog_key") else None,
        "What it led to": event.id,
        "What caused it": event.caused_by,
    }
    with st.container(horizontal=True, gap="small"):
        links.show(event)
        for label, about in ways.items():
            if about:
                st.button(label, key=f"way-{label}", type="tertiary", on_click=filters.follow, args=(str(about),))
