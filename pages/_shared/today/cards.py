"""The day snapshot as cards, one a section: what it holds, and the next step where it holds nothing.

A section that could not be built says so in its own card, with how old its figures are; the others stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.companion.reflect.projections import DaySnapshot
from pages._shared import formats
from pages._shared.layout import panel
from pages._shared.sitemap import place
from pages._shared.today import desk, own


@dataclass(frozen=True)
class Card:
    """`section` of the snapshot, drawn by `draw`; the button leads to `page`."""

    section: str
    title: str
    page: str
    draw: Callable[[Mapping[str, Any]], None]


CARDS = (
    Card("todo", "Tasks", "todo", own.tasks),
    Card("calendar", "Appointments", "calendar", own.appointments),
    Card("drink", "Drinks", "drink", own.drinks),
    Card("food", "Meals", "food", own.meals),
    Card("places", "Places", "places", own.places),
    Card("memory", "Memory", "dialogs", desk.memory),
    Card("snapshots", "Snapshots", "snapshots", desk.snapshots),
    Card("usage", "Usage", "usage", desk.usage),
    Card("health", "Health", "health", desk.health),
)


def show(day: DaySnapshot, across: int, *more: Callable[[], None]) -> None:
    """In rows of `across`; `more` are cards that go on with the last row."""
    drawn: list[Callable[[], None]] = [*(partial(_card, card, day) for card in CARDS), *more]
    for start in range(0, len(drawn), across):
        for cell, draw in zip(st.columns(across), drawn[start : start + across], strict=False):
            with cell:
                draw()


def _card(card: Card, day: DaySnapshot) -> None:
    with panel(card.title, key=f"today-{card.section}"):
        error, age = day.errors.get(card.section), day.age_s.get(card.section)
        if error is None or age is not None:
            card.draw(day[card.section])
        if error is not None:
            _failed(error, age)
        there = place(card.page)
        st.page_link(there.path, label=f"Open {there.title}", icon=there.icon)


def _failed(code: str, age_s: float | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.badge("down" if age_s is None else "stale", color="red" if age_s is None else "orange")
        said = (
            "These figures cannot be shown now"
            if age_s is None
            else f"As it was {formats.plural(round(age_s), 'second')} ago"
        )
        st.text(f"{said} ({code.replace('_', ' ')}). The other cards are not concerned.")
