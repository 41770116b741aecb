"""When a mission runs, as a form asks it, with the dates that come of it."""

from __future__ import annotations

from datetime import time
from typing import Any

import streamlit as st

from core.companion.act.missions.cadence import MINUTES, Cadence, read_cadence
from core.errors import InputError
from pages._shared.missions import reading, words

KINDS = {
    "manual": "By hand only",
    "interval": "Every so many minutes",
    "daily": "Daily",
    "weekly": "Weekly",
    "cron": "By a cron expression",
}


def ask(form: str, given: Cadence) -> Cadence | InputError:
    """The cadence, drawn with its next three dates; what is wrong with it where it is none."""
    left, middle, right = st.columns(3)
    kinds = list(KINDS)
    kind = left.selectbox(
        "When it runs", kinds, kinds.index(given.kind), key=f"{form}-kind", format_func=KINDS.__getitem__
    )
    raw: dict[str, Any] = {"kind": kind}
    if kind == "interval":
        raw["minutes"] = middle.number_input(
            "Minutes", MINUTES[0], MINUTES[1], given.minutes or 60, key=f"{form}-minutes"
        )
    if kind == "weekly":
        raw["weekday"] = middle.selectbox(
            "Day", range(7), given.weekday or 0, key=f"{form}-weekday", format_func=words.DAYS.__getitem__
        )
    if kind in ("daily", "weekly"):
        place = middle if kind == "daily" else right
        before = time(9 if given.hour is None else given.hour, given.minute)
        at = place.time_input("Time", before, key=f"{form}-time", step=300)
        raw |= {"hour": at.hour, "minute": at.minute} if at else {}
    if kind == "cron":
        raw["cron"] = middle.text_input(
            "Cron", given.cron or "0 9 1 * *", key=f"{form}-cron", help="Minute, hour, day of month, month, weekday."
        )
    try:
        cadence = read_cadence(raw)
    except InputError as fault:
        st.caption(fault.what)
        return fault
    if cadence.kind != "manual":
        coming = reading.missions().upcoming(cadence)
        st.text(f"The next runs would be {words.dates(coming)}." if coming else "It would never run.")
    return cadence
