"""Reads and actions of the profiles: what is stored, who says yes, what is in force; each short-lived."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.bootstrap import Core
from core.events import run_as
from core.memory.retrieval import Profile
from core.services.recent import Recent
from core.tuning.aftercheck import AfterCheck
from core.tuning.evaluations import Evaluation
from core.tuning.loop import Approved, Switched
from core.tuning.profiles import ProfileList
from pages._shared import reads, session
from pages._shared.reads import Read
from pages._shared.resources import core

SHORT_S = 5
RECENT = "desk.recent"


def profiles() -> Read[ProfileList]:
    return reads.standing(("profiles",), lambda: _profiles(core()))


@st.cache_data(ttl=SHORT_S, max_entries=1, show_spinner=False)
def _profiles(_core: Core) -> Read[ProfileList]:
    return Read(_core.profiles.all(), _core.clock.now())


def after_check() -> Read[AfterCheck]:
    return reads.standing(("after check",), lambda: _after_check(core()))


@st.cache_data(ttl=30, max_entries=1, show_spinner=False)
def _after_check(_core: Core) -> Read[AfterCheck]:
    return Read(_core.after_checks.look(), _core.clock.now())


def evaluations(version: int, query_set: str | None) -> tuple[Evaluation, ...]:
    """Those that cover this version on the labelled queries it was proposed for, the latest first."""
    return _evaluations(core(), version, query_set) if query_set else ()


@st.cache_data(ttl=SHORT_S, max_entries=16, show_spinner=False)
def _evaluations(_core: Core, version: int, query_set: str) -> tuple[Evaluation, ...]:
    return _core.tuning.evaluations.page(query_set=query_set, profile_version=version, limit=20).rows


def query_sets() -> dict[str, str]:
    """Names of the labelled sets by id."""
    return _query_sets(core())


@st.cache_data(ttl=SHORT_S, max_entries=1, show_spinner=False)
def _query_sets(_core: Core) -> dict[str, str]:
    return {one.id: one.name for one in _core.tuning.labels.sets()}


def forget() -> None:
    """After a change: the next drawing asks."""
    for read in (_profiles, _after_check, _evaluations, _query_sets):
        read.clear()


def propose(profile: Profile, query_set: str | None, note: str, fits: tuple[str, ...]) -> int:
    """Errors: CoreError."""
    return int(_act(lambda loop: loop.propose(profile, query_set=query_set, note=note, fits=fits)))


def approve(version: int, evaluation: str, note: str) -> Approved:
    """Errors: CoreError."""
    done: Approved = _act(lambda loop: loop.approve(version, evaluation, note=note))
    return done


def activate(version: int) -> Switched:
    """Errors: CoreError."""
    done: Switched = _act(lambda loop: loop.activate(version))
    return done


def revert(from_version: int, reason: str) -> Switched:
    """Errors: CoreError."""
    done: Switched = _act(lambda loop: loop.revert(from_version, reason=reason))
    return done


def _act(action: Any) -> Any:
    try:
        with run_as(session.actor()):
            return action(core().loop)
    finally:
        forget()


def recent() -> Recent | None:
    """The searches that were loaded for a what-if; a cache with an expiry would ask anew under a slider."""
    return st.session_state.get(RECENT)


def load_recent(progress: Any) -> Recent:
    """Embed and compare the latest searches anew. Errors: CoreError."""
    with run_as(session.actor()):
        found = core().recent.load(progress=progress)
    st.session_state[RECENT] = found
    return found
