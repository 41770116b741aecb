"""The Calendar page: appointments in one line, today and the days ahead, the week."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

import streamlit as st

from core.companion.records import quick
from core.companion.records.when import say_day
from pages._shared import layout
from pages._shared.feedback import stale
from pages._shared.layout import Figure, panel
from pages._shared.literal import literal
from pages._shared.own import acting, reading, rows, week
from pages._shared.own.acting import Said
from pages._shared.resources import core
from pages._shared.zone import my_zone

PAGE = "calendar"
AHEAD = 14


def write(text: str, id: str) -> Said:
    today = reading.today()
    found = quick.appointment(text, today, my_zone())
    core().companion.records.appointments.create(
        found.title, found.start, found.end, is_all_day=found.is_all_day, location=found.location, id=id
    )
    return Said(True, found.says(today), ("appointments", "delete", id))


def figures(day: Any) -> None:
    coming = day["next_event"]
    hours = reading.week().value[-1]["meeting_hours"]
    layout.figures(
        Figure("Today", str(day["total"]), "Appointments, with those that last all day."),
        Figure("Still to come today", str(len(day["upcoming"])), "At most five are counted."),
        Figure("Next", _clock(coming["start"]) if coming else "–", "The next start today."),
        Figure("Hours today", f"{hours:g}", "In appointments with a time; all-day ones have no hours."),
    )


def listing() -> None:
    today = reading.today()
    with panel("Appointments", f"Today and the next {AHEAD} days. All-day ones stay on their dates in any zone."):
        read = reading.ask("appointments", "list", today, today + timedelta(AHEAD))
        stale(read)
        if not read.value:
            st.text("Nothing is noted. Write one above: day, times and place are read from the line.")
        for day, group in groupby(read.value, key=lambda row: max(date.fromisoformat(row["day"]), today)):
            name = say_day(day, today)
            st.markdown(f"**{name[0].upper()}{name[1:]}**")
            for row in group:
                _row(row)


def chart() -> None:
    week.card(
        "Hours in the last seven days",
        "Hours in appointments per local day, without all-day ones.",
        reading.week().value,
        {"meeting_hours": "Hours"},
        "h",
        key="calendar-week",
    )


def _row(row: Any) -> None:
    id = row["id"]
    says = _span(row) + (f" · {literal(row['location'])}" if row["location"] else "")
    with rows.row(f"appointment-{id}", row["title"], says, *([("all day", "blue")] if row["is_all_day"] else [])):
        if st.button("Edit", key=f"edit-{id}", type="tertiary"):
            _edit(row)
        st.button("Delete", key=f"delete-{id}", type="tertiary", on_click=_delete, args=(row,))


def _span(row: Any) -> str:
    if row["is_all_day"]:
        last = date.fromisoformat(row["end_date"]) - timedelta(1)
        return "all day" if row["start_date"] == last.isoformat() else f"{row['start_date']} to {last}"
    start, end = (datetime.fromisoformat(row[k]).astimezone(my_zone()) for k in ("start_at", "end_at"))
    return f"{start:%H:%M} to {end:%H:%M}" + ("" if start.date() == end.date() else f" on {end:%Y-%m-%d}")


def _clock(at: str) -> str:
    return f"{datetime.fromisoformat(at).astimezone(my_zone()):%H:%M}"


def _delete(row: Any) -> None:
    def do() -> Said:
        core().companion.records.appointments.delete(row["id"])
        return Said(True, f"Deleted: {row['title']}", ("appointments", "restore", row["id"]))

    acting.press(PAGE, "Deleting", do, key=f"delete-{row['id']}")


@st.dialog("Edit the appointment")
def _edit(row: Any) -> None:
    id, whole = row["id"], row["is_all_day"]
    if whole:
        start = end = None
        first = date.fromisoformat(row["start_date"])
        last = date.fromisoformat(row["end_date"]) - timedelta(1)
    else:
        start, end = (datetime.fromisoformat(row[k]).astimezone(my_zone()) for k in ("start_at", "end_at"))
        first, last = start.date(), end.date()
    with st.form(f"appointment-form-{id}", border=False):
        st.text_input("Title", row["title"], max_chars=200, key=f"title-{id}")
        st.checkbox("All day", whole, key=f"whole-{id}")
        left, right = st.columns(2)
        with left:
            st.date_input("First day", first, key=f"first-{id}")
            st.time_input("From", start.time() if start else None, step=300, key=f"from-{id}")
        with right:
            st.date_input("Last day", last, key=f"last-{id}")
            st.time_input("Until", end.time() if end else None, step=300, key=f"until-{id}")
        st.text_input("Place", row["location"] or "", max_chars=400, key=f"location-{id}")
        if st.form_submit_button("Save", type="primary", on_click=_save, args=(row,)):
            st.rerun()


def _save(row: Any) -> None:
    id, zone = row["id"], my_zone()
    given = {key: st.session_state[f"{key}-{id}"] for key in ("title", "whole", "first", "last", "from", "until")}
    location = st.session_state[f"location-{id}"]

    def do() -> Said:
        start, end = given["first"], given["last"]
        if given["whole"]:
            end = end + timedelta(1) if end >= start else end  # the first day after it
        elif given["from"] is None or given["until"] is None:
            return Said(False, "An appointment that does not last all day needs a time from and until.")
        else:
            start = datetime.combine(start, given["from"], zone)
            end = datetime.combine(end, given["until"], zone)
        core().companion.records.appointments.update(
            id, {"title": given["title"], "location": location}, start=start, end=end, is_all_day=given["whole"]
        )
        return Said(True, f"Changed: {given['title']}", ("appointments", "put_back", row))

    acting.press(PAGE, "Saving", do, key=f"save-{id}")
