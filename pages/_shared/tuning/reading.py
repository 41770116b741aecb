"""What the labels and evaluations of the Tuning page are read from, each with a lifetime and a size."""

from __future__ import annotations

import streamlit as st

from core.bootstrap import Core
from core.memory.retrieval import Profile
from core.tuning.evaluations import Evaluation, EvaluationPage
from core.tuning.label_store import Given, RecordedQuery
from core.tuning.labels import QuerySet, SetSummary
from core.tuning.profiles import ProfileList
from pages._shared.reads import Read, standing
from pages._shared.resources import core


def sets(archived: bool) -> Read[tuple[SetSummary, ...]]:
    return standing(("query-sets", archived), lambda: _sets(core(), archived))


@st.cache_data(ttl=10, max_entries=2, show_spinner=False)
def _sets(_core: Core, archived: bool) -> Read[tuple[SetSummary, ...]]:
    return Read(_core.tuning.labels.sets(archived=archived), _core.clock.now())


def query_set(id: str) -> Read[QuerySet]:
    """A set with its queries and what was judged."""
    return standing(("query-set", id), lambda: _query_set(core(), id))


@st.cache_data(ttl=10, max_entries=8, show_spinner=False)  # two graders of one set see each other's grades
def _query_set(_core: Core, id: str) -> Read[QuerySet]:
    return Read(_core.tuning.labels.query_set(id), _core.clock.now())


def history(query_id: str, parts_hash: str) -> tuple[Given, ...]:
    return core().tuning.labels.history(query_id, parts_hash)


def recorded(id: str) -> Read[tuple[tuple[RecordedQuery, ...], int]]:
    """Queries of recorded searches with unjudged results, and how many there are."""
    return standing(("recorded-queries", id), lambda: _recorded(core(), id))


@st.cache_data(ttl=30, max_entries=4, show_spinner=False)  # searches come in all the time; a list to choose from
def _recorded(_core: Core, id: str) -> Read[tuple[tuple[RecordedQuery, ...], int]]:
    return Read(_core.tuning.labels.recorded(id), _core.clock.now())


def profiles() -> Read[ProfileList]:
    return standing(("profiles-to-evaluate",), lambda: _profiles(core()))


@st.cache_data(ttl=5, max_entries=1, show_spinner=False)
def _profiles(_core: Core) -> Read[ProfileList]:
    return Read(_core.profiles.all(), _core.clock.now())


def waiting(id: str, version: int, profile: Profile, llm: bool) -> Read[dict[str, tuple[int, int]]]:
    """Unjudged and shown chunks in the top of a profile, by query id; `version` of the set makes it anew."""
    body = repr(profile.as_json())
    return standing(("unjudged", id, version, body, llm), lambda: _waiting(core(), id, version, profile, body, llm))


@st.cache_data(ttl=120, max_entries=8, show_spinner=False)
def _waiting(
    _core: Core, id: str, version: int, _profile: Profile, body: str, llm: bool
) -> Read[dict[str, tuple[int, int]]]:
    rows = _core.tuning.labels.waiting(_query_set(_core, id).value, _profile, llm=llm)
    return Read({row.query.id: (row.unjudged, row.shown) for row in rows}, _core.clock.now())


def evaluations(id: str | None) -> Read[EvaluationPage]:
    return standing(("evaluations", id), lambda: _evaluations(core(), id))


@st.cache_data(ttl=10, max_entries=8, show_spinner=False)
def _evaluations(_core: Core, id: str | None) -> Read[EvaluationPage]:
    return Read(_core.tuning.evaluations.page(query_set=id, limit=50), _core.clock.now())


def evaluation(id: str) -> Evaluation:
    """One with its details; it never changes."""
    return _evaluation(core(), id)


@st.cache_data(ttl=600, max_entries=8, show_spinner=False)
def _evaluation(_core: Core, id: str) -> Evaluation:
    return _core.tuning.evaluations.get(id)


def forget() -> None:
    """After a change of a set, a query or a grade, or a new evaluation."""
    for read in (_sets, _query_set, _recorded, _profiles, _evaluations):
        read.clear()
