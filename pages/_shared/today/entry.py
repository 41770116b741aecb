"""Quick entry: a drink and a visit with one click, a task and a meal in one line; each with its way back."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from core.errors import CoreError
from pages._shared.own import acting, drinks, entry, meals, places, tasks

PAGE = "today"
PLACES = 4


def show() -> None:
    left, right = st.columns(2)
    with left:
        entry.line("today-task", "New task", "Call Anna tomorrow !high", tasks.write, said=PAGE)
    with right:
        entry.line("today-meal", "New meal", "lunch soup 450 kcal 20 g protein", meals.write, said=PAGE)
    with suppress(CoreError):  # the day beneath has the same fate, and says so
        drinks.presets(PAGE)
        places.one_click(PAGE, PLACES)
    acting.show(PAGE)
