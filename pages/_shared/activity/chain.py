"""The button that recomputes the chain of hashes, and what it found."""

from __future__ import annotations

import streamlit as st

from core.events import run_as
from core.events.verifying import Verified, verify_chain
from pages._shared import formats, session
from pages._shared.activity import reading
from pages._shared.layout import panel
from pages._shared.resources import core
from pages._shared.zone import my_zone

FOUND = "activity.chain"
WORDS = {
    "edited": "says something else than when it was written",
    "missing": "is missing",
    "reordered": "does not follow from the row before it",
}


def card() -> None:
    """Verify on demand. Errors: CoreError."""
    says = "Each event holds a hash over itself and the one before: a row edited, removed or moved later shows."
    with panel("Chain of hashes", says):
        if st.button("Verify the hash chain", key="verify", icon=":material/link:"):
            session.remember(FOUND, (_verify(), core().clock.now()))
        kept = session.remembered(FOUND, None)
        if kept:
            found, at = kept
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.badge("ok" if found.ok else "broken", color="green" if found.ok else "red")
                st.text(sentence(found))
            st.caption(f"Verified {formats.moment(at, my_zone())}.")


def sentence(found: Verified) -> str:
    """What was found, naming the row."""
    if found.ok:
        return f"All {found.checked:,} events stand as they were written."
    row = f"Row {found.bad_seq:,}" if found.bad_seq is not None else "A row"
    if found.bad_event is not None:
        at = formats.moment(found.bad_event.timestamp, my_zone())
        row = f"{row} ({found.bad_event.type}, {at}, event {found.bad_event.id})"
    return f"{row} {WORDS.get(found.reason or '', f'does not verify: {found.reason}')}."


def _verify() -> Verified:
    bar = st.progress(0.0, text="Recomputing the hashes")
    built = core()
    built.events.flush(2.0)

    def progress(checked: int, events: int) -> None:
        bar.progress(min(1.0, checked / max(events, 1)), text=f"{checked:,} of {events:,} events")

    found = verify_chain(built.events.store, progress)
    bar.empty()
    facts = {"ok": found.ok, "checked": found.checked, "first_bad_seq": found.bad_seq, "reason": found.reason}
    with run_as(session.actor()):
        built.events.emit("ChainVerified", facts)
    reading.forget()
    return found
