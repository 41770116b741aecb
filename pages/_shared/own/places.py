"""The Places page: a place or a position in one line, a visit with one click, distances listed, the week."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import streamlit as st

from core.companion.records import quick
from core.companion.records.places import CATEGORIES
from pages._shared import formats, layout
from pages._shared.feedback import stale
from pages._shared.layout import Figure, panel
from pages._shared.literal import words
from pages._shared.own import acting, reading, rows, week
from pages._shared.own.acting import Said
from pages._shared.resources import core
from pages._shared.sitemap import place as site_place
from pages._shared.zone import my_zone

PAGE = "places"


def write(text: str, id: str) -> Said:
    found, room = quick.place(text), core().companion.records.places
    if found.name is None:
        at = room.log(found.latitude, found.longitude, id=id)
        near = f" · a visit of {at['place']['name']}" if at.get("place") else ""
        return Said(True, f"{found.says()}{near}", ("places", "forget", id))
    room.create(found.name, found.latitude, found.longitude, category=found.category, id=id)
    return Said(True, found.says(), ("places", "delete", id))


def figures(day: Any, number: int) -> None:
    at = day.get("current_location")
    where = "–" if at is None else f"{at['lat']:.4f}, {at['lng']:.4f}"
    layout.figures(
        Figure("Places", str(number)),
        Figure("Visited today", str(day["visited_today"]), "Different places."),
        Figure("Way today (km)", f"{reading.week().value[-1]['distance_km']:.1f}", "Between the positions of today."),
        Figure("Last position today", where, "Latitude and longitude in degrees, as entered by hand."),
    )


def tracking(on: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge("tracking" if on else "not tracking", color="green" if on else "gray")
        st.button(
            "Stop tracking" if on else "Start tracking",
            key="tracking",
            on_click=_track,
            args=(not on,),
            help="Marks a time in which you note positions; nothing is read from this device.",
        )


def listing(places: Any, day: Any) -> None:
    at = day.get("current_location")
    order = "Nearest to the last position of today first." if at else "By name; enter a position to see distances."
    with panel("Places", order):
        if not places:
            st.text("There is no place yet. Write one above: name, latitude, longitude, and !kind.")
        for place in places:
            _row(place)


def visits() -> None:
    with panel("Today", "Visits and positions, newest first."):
        read = reading.ask("places", "visits", reading.today())
        stale(read)
        if not read.value:
            st.text("No visit and no position today.")
        for one in read.value:
            at = datetime.fromisoformat(one["at"]).astimezone(my_zone())
            way = f" · {one['distance_km']:.2f} km from the one before" if one["distance_km"] else ""
            name = one["place"] or f"{one['lat']:.5f}, {one['lng']:.5f}"
            kind = "visit" if one["place_id"] else "position"
            with rows.row(f"visit-{one['id']}", name, f"{at:%H:%M}{way}", (kind, "gray")):
                st.button("Take back", key=f"forget-{one['id']}", type="tertiary", on_click=_forget, args=(one,))


def chart() -> None:
    week.card(
        "Visits in the last seven days",
        "Per local day.",
        reading.week().value,
        {"visits": "Visits"},
        "visits",
        key="places-week",
    )


def _row(place: Any) -> None:
    id = place["id"]
    far = "" if place["distance_km"] is None else f"{place['distance_km']:,.2f} km away · "
    said = f"{far}{formats.plural(place['visit_count'], 'visit')} · {place['lat']:.4f}, {place['lng']:.4f}"
    with rows.row(f"place-{id}", place["name"], said, (place["category"], "gray")):
        st.button(
            "Visit",
            key=f"visit-of-{id}",
            icon=":material/check:",
            on_click=_visit,
            args=(PAGE, place, acting.token(f"visit-{id}")),
        )
        if st.button("Edit", key=f"edit-{id}", type="tertiary"):
            _edit(place)
        st.button("Delete", key=f"delete-{id}", type="tertiary", on_click=_delete, args=(place,))


def one_click(page: str, most: int) -> None:
    """The places that were visited most, each a visit with one click; how to make one where there is none."""
    known = sorted(reading.ask("places", "list", None).value, key=lambda place: -place["visit_count"])
    with st.container(horizontal=True, gap="small"):
        for place in known[:most]:
            id = place["id"]
            st.button(
                words(place["name"]),
                key=f"visit-now-{id}",
                icon=":material/place:",
                on_click=_visit,
                args=(page, place, acting.token(f"visit-{id}")),
            )
        if not known:
            st.page_link(
                site_place("places").path, label="Make a place, to visit it with one click", icon=":material/place:"
            )


def _visit(page: str, place: Any, id: str) -> None:
    def do() -> Said:
        core().companion.records.places.visit(place["id"], id=id)
        return Said(True, f"Visited: {place['name']}", ("places", "unvisit", id))

    acting.press(page, "The visit", do, key=f"visit-{place['id']}", form=f"visit-{place['id']}")


def _forget(one: Any) -> None:
    def do() -> Said:
        core().companion.records.places.forget(one["id"])
        return Said(True, "Taken back.")

    acting.press(PAGE, "Taking back", do, key=f"forget-{one['id']}")


def _delete(place: Any) -> None:
    def do() -> Said:
        core().companion.records.places.delete(place["id"])
        return Said(True, f"Deleted: {place['name']}", ("places", "restore", place["id"]))

    acting.press(PAGE, "Deleting", do, key=f"delete-{place['id']}")


def _track(on: bool) -> None:
    def do() -> Said:
        core().companion.records.places.track(on)
        return Said(True, "Tracking is on." if on else "Tracking is off.", ("places", "track", not on))

    acting.press(PAGE, "Tracking", do, key=f"track-{on}")


@st.dialog("Edit the place")
def _edit(place: Any) -> None:
    id = place["id"]
    with st.form(f"place-form-{id}", border=False):
        st.text_input("Name", place["name"], max_chars=200, key=f"name-{id}")
        st.selectbox("Kind", CATEGORIES, CATEGORIES.index(place["category"]), key=f"category-{id}")
        st.text_input("Address", place["address"] or "", max_chars=400, key=f"address-{id}")
        if st.form_submit_button("Save", type="primary", on_click=_save, args=(place,)):
            st.rerun()


def _save(place: Any) -> None:
    id = place["id"]
    given = tuple(st.session_state[f"{key}-{id}"] for key in ("name", "category", "address"))

    def do() -> Said:
        core().companion.records.places.update(id, *given)
        former = (place["name"], place["category"], place["address"])
        return Said(True, f"Changed: {given[0]}", ("places", "update", id, *former))

    acting.press(PAGE, "Saving", do, key=f"save-{id}")
