"""The form of a new version, filled from Search, from the what-if, or from an older version."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.errors import InputError
from core.memory.retrieval import BOOST_MOST, BUDGET_LEAST, BUDGET_MOST, FUSION_MOST, UNITS, Profile
from core.memory.sources import LIMIT_MAX, LIMIT_MIN, SOURCES
from core.tuning.loop import NAME_LIMIT
from core.tuning.profiles import ProfileList
from pages._shared import session
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.search.sliders import PROPOSAL
from pages._shared.tuning import choices, profile_reading, profile_words

NO_SET = "none: it cannot be approved"


@only("propose_profile")
def show(found: ProfileList) -> None:
    start: Profile = session.remembered(PROPOSAL, None) or found.of(found.active).profile
    fits = origin(found, start)
    # Another start is another form: what was typed into the one before does not belong to it.
    key = f"propose-{abs(hash(str(start.as_json())))}"
    sets = profile_reading.query_sets()
    says = f"Starts from: {profile_words.boosts(start)}; {profile_words.rules(start)}. Nothing changes by proposing."
    if fits:
        says += " It starts from what a search on labelled queries found, and keeps that origin."
    with panel("Propose a version", says), st.form(key, border=False):
        name = st.text_input("Name", max_chars=NAME_LIMIT, placeholder="words at 0.35, no boosts", key=f"{key}-name")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            unit = st.selectbox("Unit of the boosts", UNITS, UNITS.index(start.unit), key=f"{key}-unit", width=150)
            boosts: dict[str, float] = {s: _boost(start, s, key) for s in SOURCES}
        with st.container(horizontal=True, vertical_alignment="bottom"):
            fusion = st.number_input("Words (BM25)", 0.0, FUSION_MOST, start.fusion, 0.05, key=f"{key}-f", width=150)
            limit = st.number_input("Limit", LIMIT_MIN, LIMIT_MAX, start.limit, 1, key=f"{key}-l", width=120)
            budget = st.number_input(
                "Character budget",
                BUDGET_LEAST,
                BUDGET_MOST,
                start.budget_chars,
                100,
                key=f"{key}-b",
                placeholder="none",
                width=170,
            )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            quotas: dict[str, int | None] = {s: _quota(start, s, key) for s in SOURCES}
        judged_on = st.selectbox(
            "To be judged on",
            ["", *sets],
            index=1 if sets else 0,
            format_func=lambda id: sets.get(id, NO_SET),
            key=f"{key}-set",
            help="An evaluation on other queries does not count for its approval.",
        )
        note = st.text_input("Why", max_chars=500, placeholder="optional", key=f"{key}-why")
        if st.form_submit_button("Propose", type="primary", key=f"{key}-go"):
            _propose(name, unit, boosts, fusion, limit, budget, quotas, judged_on, note, fits)


def origin(found: ProfileList, start: Profile) -> tuple[str, ...]:
    """The searches behind what the form starts from: a draft's, a version's, or those of the active one that sliders
    started from."""
    if start == choices.draft():
        return choices.draft_fits()
    return tuple(one.id for one in found.of(start.version or found.active).fits)


def _boost(start: Profile, source: str, key: str) -> float:
    return st.number_input(
        source,
        -BOOST_MOST,
        BOOST_MOST,
        float(start.weights.get(source, 0.0)),
        0.01,
        "%.3f",
        f"{key}-boost-{source}",
        width=140,
    )


def _quota(start: Profile, source: str, key: str) -> int | None:
    return st.number_input(
        f"{source}, at most",
        0,
        LIMIT_MAX,
        start.quotas.get(source),
        1,
        key=f"{key}-quota-{source}",
        placeholder="any",
        width=140,
    )


def _propose(
    name: str,
    unit: Any,
    boosts: dict[str, float],
    fusion: float,
    limit: int,
    budget: int | None,
    quotas: dict[str, int | None],
    judged_on: str,
    note: str,
    fits: tuple[str, ...],
) -> None:
    def act() -> int:
        profile = Profile(
            name,
            None,
            {s: b for s, b in boosts.items() if b},
            unit,
            float(fusion),
            int(limit),
            None if budget is None else int(budget),
            {s: int(q) for s, q in quotas.items() if q is not None},
        )
        if not name.strip():
            raise InputError("The name is missing.", field="name")
        return profile_reading.propose(profile, judged_on or None, note, fits)

    version = outcome.attempt("Proposing", act)
    if version:
        session.remember(PROPOSAL, None)
        outcome.say("done", f"Version {version} is proposed. Evaluate it, then it can be approved.")
    st.rerun()
