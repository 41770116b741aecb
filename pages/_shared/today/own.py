"""The cards of the own day: tasks, appointments, drinks, meals, places."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from pages._shared import formats
from pages._shared.resources import core
from pages._shared.today.lines import bar, lines, said
from pages._shared.zone import my_zone

Section = Mapping[str, Any]
TITLES = 4


def tasks(day: Section) -> None:
    due = day["due_today"]
    lines(("open", day["total"]), ("overdue", day["overdue"]), ("completed today", day["completed"]))
    if due:
        st.caption("Due today")
        said(*(task["title"] for task in due[:TITLES]))
        _more(len(due))
    else:
        st.text("None is due today." if day["total"] else "No task is open. Write one above.")


def appointments(day: Section) -> None:
    coming, following = day["next_event"], day["upcoming"][1:TITLES]
    lines(("today", day["total"]), ("still to come", len(day["upcoming"])))
    for whole in day["all_day"][:2]:
        said(f"All day: {whole['title']}")
    if coming:
        left = formats.ago(_start(coming), core().clock.now())
        st.caption(f"Next, in {left.removesuffix(' from now')}")
        said(_clocked(coming))
        if following:
            st.caption("Then")
            said(*map(_clocked, following))
    else:
        st.text("None is ahead today." if day["total"] else "No appointment today.")


def drinks(day: Section) -> None:
    water, coffee, other = day["water"], day["coffee"], day["other"]
    bar(water["percent"], f"{water['ml']:,.0f} of {water['goal']:,.0f} ml water, {water['percent']} %")
    lines(("coffee (cups)", coffee["count"]), ("other drinks", other["count"]))
    if not day["total"]["count"]:
        st.text("Nothing is logged today. One click above logs a glass.")


def meals(day: Section) -> None:
    kcal, protein = day["calories"], day.get("protein")
    bar(kcal["percent"], f"{kcal['actual']:,.0f} of {kcal['goal']:,.0f} kcal, {kcal['percent']} %")
    protein_of = (("protein (g)", f"{protein['actual']:,.0f} of {protein['goal']:,.0f}"),) if protein else ()
    lines(("meals", day["meals"]), *protein_of)
    if not day["meals"]:
        st.text("No meal is logged today. Write one above.")


def places(day: Section) -> None:
    lines(("places visited today", day["visited_today"]), ("tracking", "on" if day["tracking"] else "off"))
    if not day["visited_today"]:
        st.text("No visit today.")


def _more(number: int) -> None:
    if number > TITLES:
        st.caption(f"and {number - TITLES} more")


def _start(item: Section) -> datetime:
    return datetime.fromisoformat(item["start"]).astimezone(my_zone())


def _clocked(item: Section) -> str:
    end = datetime.fromisoformat(item["end"]).astimezone(my_zone())
    return f"{_start(item):%H:%M} to {end:%H:%M}  {item['title']}"
