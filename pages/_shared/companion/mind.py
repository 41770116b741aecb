"""What pages read of goals, facts, nudges and rules, and how they change it: once, as the one who is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from core.bootstrap import Core
from core.companion.reflect.correlations import Correlation, Scatter
from core.companion.reflect.facts import Fact
from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.opening import Reflection
from core.companion.reflect.pulse.feedback import RuleView
from core.companion.reflect.pulse.store import ShownNudge
from core.companion.reflect.streaks import Streak
from core.events import Actor, run_as
from pages._shared import reads, session
from pages._shared.companion import seen
from pages._shared.operations import outcome
from pages._shared.reads import Read
from pages._shared.resources import core, settings

T = TypeVar("T")
HISTORY = 30  # periods of a card


def mind() -> Reflection:
    return core().companion.reflection


def today() -> date:
    """The local day of the installation: goals and streaks count by it."""
    return core().clock.now().astimezone(settings().zone).date()


def goals() -> Read[tuple[Goal, ...]]:
    """Those of the own day to its owner alone; so are nudges and streaks."""
    return _theirs(reads.standing(("goals",), lambda: _read(core(), "goals")))


def facts() -> Read[tuple[Fact, ...]]:
    """Also those that are hardly sure, surest first."""
    return reads.standing(("facts",), lambda: _read(core(), "facts"))


def nudges() -> Read[tuple[ShownNudge, ...]]:
    """What is shown now: asked by every open page, every few seconds."""
    return _theirs(reads.standing(("nudges",), lambda: _nudges(core())))


def streaks() -> Read[tuple[Streak, ...]]:
    return _theirs(reads.standing(("streaks",), lambda: _read(core(), "streaks")))


def _theirs(found: Read[tuple[Any, ...]]) -> Read[tuple[Any, ...]]:
    return replace(found, value=tuple(one for one in found.value if not seen.withheld(one.module)))


def correlations() -> Read[tuple[Correlation, ...]]:
    return reads.standing(("correlations",), lambda: _read(core(), "correlations"))


def rules() -> Read[tuple[RuleView, ...]]:
    """Asked each time: a rule holds functions, which no cache of values takes."""
    built = core()
    return reads.standing(("rules",), lambda: Read(built.companion.reflection.feedback.rules(), built.clock.now()))


def scatter(correlation: Correlation) -> Scatter | None:
    """The days behind a correlation. Errors: CoreError."""
    return _scatter(core(), correlation)


@st.cache_data(ttl=5, max_entries=4, show_spinner=False)  # one entry a kind; what a person changes clears it
def _read(_core: Core, what: str) -> Read[Any]:
    companion = _core.companion
    ask: dict[str, Callable[[], Any]] = {
        "goals": partial(companion.reflection.goals.list, HISTORY),
        "facts": partial(companion.reflection.facts.list, 0.0),
        "streaks": companion.streaks.all,
        "correlations": companion.correlations.all,
    }
    return Read(ask[what](), _core.clock.now())


@st.cache_data(ttl=5, max_entries=1, show_spinner=False)  # one question for all open pages of this process
def _nudges(_core: Core) -> Read[tuple[ShownNudge, ...]]:
    return Read(_core.companion.reflection.nudges.open(), _core.clock.now())


@st.cache_data(ttl=600, max_entries=16, show_spinner=False)  # computed once a day
def _scatter(_core: Core, correlation: Correlation) -> Scatter | None:
    return _core.companion.correlations.scatter(correlation)


def attempt(what: str, act: Callable[[Actor], T]) -> T | None:
    """Do it as the one who is here; what goes wrong is said with the next drawing, and None comes back."""
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
    _read.clear()
    _nudges.clear()
