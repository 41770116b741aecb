"""What the Missions page reads, and how it changes it: once, as the one who is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from core.bootstrap import Core
from core.companion.act.missions.mission import Input, Mission
from core.companion.act.missions.missions import Missions
from core.companion.act.missions.store import IterationPage
from core.events import Actor, run_as
from pages._shared import reads, session
from pages._shared.operations import outcome
from pages._shared.reads import Read
from pages._shared.resources import core

T = TypeVar("T")
CHOSEN = "mission-chosen"
RUNS = 10  # of a page


def missions() -> Missions:
    return core().companion.missions


def everything() -> Read[tuple[Mission, ...]]:
    """Every mission, active ones first. Errors: CoreError."""
    return reads.standing(("missions",), lambda: _missions(core()))


def runs(mission: str, page: int = 1) -> Read[IterationPage]:
    """Newest first; read anew each time, as a run moves. Errors: CoreError."""

    def ask() -> Read[IterationPage]:
        return Read(missions().iterations(mission, limit=RUNS, offset=(page - 1) * RUNS), core().clock.now())

    return reads.standing(("mission-runs", mission, page), ask)


def choices() -> Mapping[Input, str]:
    """Every input that can be chosen, in words; those of modules that do not answer are left out."""
    return _choices(core(), session.may("own_day"))


def model_obstacle() -> str | None:
    """Why no model would plan now, or None. Errors: CoreError."""
    states = [one for one in core().companion.router.states() if one.tier != "rules"]
    if any(one.state == "ready" for one in states):
        return None
    return " ".join(one.why for one in states if one.why) or "No model is configured."


def chosen(found: tuple[Mission, ...]) -> Mission | None:
    """The mission that somebody opened, else the first."""
    id = session.remembered(CHOSEN, None)
    return next((one for one in found if one.id == id), found[0] if found else None)


def choose(id: str | None) -> None:
    """A callback."""
    session.remember(CHOSEN, id)


def attempt(what: str, act: Callable[[Actor], T]) -> T | None:
    """Do it; what goes wrong is said with the next drawing, and None comes back."""
    actor = session.actor()

    def done() -> T:
        with run_as(actor):
            return act(actor)

    try:
        return outcome.attempt(what, done)
    finally:
        forget()


def forget() -> None:
    """After something changed."""
    _missions.clear()


@st.cache_data(ttl=3, max_entries=1, show_spinner=False)  # drawn by each open page; what a person changes clears it
def _missions(_core: Core) -> Read[tuple[Mission, ...]]:
    return Read(_core.companion.missions.list(), _core.clock.now())


@st.cache_data(ttl=30, max_entries=2, show_spinner=False)  # titles of all modules, for one open form
def _choices(_core: Core, own: bool) -> dict[Input, str]:
    sources = _core.companion.missions.sources
    return {
        Input(source.module, source.kind, one.ref): f"{source.label}: {one.label}{f' ({one.hint})' if one.hint else ''}"
        for source in sources.all()
        for one in sources.candidates(source)
    }
