"""The profile as sliders, from the active one; in the address, so that a link shows the same what-if."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.memory.bm25 import spread
from core.memory.hits import Exploration
from core.memory.retrieval import BUDGET_LEAST, BUDGET_MOST, Profile, Unit
from core.memory.sources import LIMIT_MAX, SOURCES
from pages._shared import address, parts, session
from pages._shared.layout import panel
from pages._shared.search.view import active_of
from pages._shared.sitemap import place

PROPOSAL = "proposal"


@dataclass(frozen=True)
class Scale:
    """The reach of a boost's slider in one unit."""

    unit: Unit
    low: float
    high: float
    step: float
    format: str


SCALES: Mapping[Unit, Scale] = {
    "raw": Scale("raw", -0.3, 0.5, 0.001, "%+.3f"),
    "sd": Scale("sd", -3.0, 6.0, 0.05, "%+.2f"),
}
WORDS = {"raw": "added to the cosine", "sd": "in SD"}


def draw(found: Exploration) -> Profile:
    """The sliders of the sources that this dialog has; the profile as they stand."""
    active = active_of(found)
    sd = spread(found.candidates.cosines)
    version = f"version {active.version}" if active.version else "given with the search"
    says = f"From the active profile, {version}. A move is computed here and asks the database nothing."
    with panel("Boosts (added to cosine)", says):
        chosen = address.segments("Boosts", WORDS, "unit", default=active.unit, on_change=_convert, help=_help(sd))
        unit: Unit = "sd" if chosen == "sd" else "raw"
        weights = _boosts(found, active, unit, sd)
        fusion = st.slider(
            f"words (BM25) · active {active.fusion:g}",
            0.0,
            2.0,
            float(active.fusion),
            0.05,
            key="fusion",
            bind="query-params",
            disabled=found.fallback,
            help="Weight of the z-scored BM25 of the query's words. The first move reads the dialog's texts once.",
        )
        budget, quotas = _limits(found, active)
        profile = Profile("from Search", None, weights, unit, float(fusion), found.request.limit, budget, quotas)
        same = profile.as_json() == {**active.as_json(), "limit": found.request.limit}
        _buttons(profile, active, same)
    st.session_state["desk.scale"] = (unit, sd)
    return profile


def _boosts(found: Exploration, active: Profile, unit: Unit, sd: float | None) -> dict[str, float]:
    scale = SCALES[unit]
    weights = in_unit(active, unit, sd)
    for source in [s for s in SOURCES if found.candidates.mask(s).any()]:
        other = _other(weights[source], unit, sd)
        weights[source] = st.slider(
            f"{source} · active {weights[source]:+.3f}{other}",
            scale.low,
            scale.high,
            min(max(weights[source], scale.low), scale.high),
            scale.step,
            format=scale.format,
            key=key_of(source, unit),
            bind="query-params",
        )
    return weights


def _limits(found: Exploration, active: Profile) -> tuple[int | None, dict[str, int]]:
    """Character budget and slots by source; nothing written means none."""
    quotas: dict[str, int] = {}
    written = active.budget_chars is not None or bool(active.quotas)
    with st.expander("Quotas and budget", expanded=written):
        budget = st.number_input(
            "Characters in the prompt, at most",
            BUDGET_LEAST,
            BUDGET_MOST,
            active.budget_chars,
            100,
            key="budget",
            placeholder="no budget",
            help="Of the texts together. A chunk that no longer fits is passed over.",
        )
        for source in [s for s in SOURCES if found.candidates.mask(s).any()]:
            slots = st.number_input(
                f"Places for {source}, at most",
                0,
                LIMIT_MAX,
                active.quotas.get(source),
                1,
                key=f"quota_{source}",
                placeholder="any number",
                help="0 keeps the source out of the prompt.",
            )
            if slots is not None:
                quotas[source] = int(slots)
    return (None if budget is None else int(budget)), quotas


def _buttons(profile: Profile, active: Profile, same: bool) -> None:
    with st.container(horizontal=True):
        st.button(
            "Reset to the active profile",
            key="reset-boosts",
            icon=":material/restart_alt:",
            disabled=same,
            on_click=_reset,
            args=(active,),
        )
        if parts.button(
            "propose_profile", "Propose this", key="propose-this", icon=":material/balance:", disabled=same
        ):
            session.remember(PROPOSAL, profile)
            st.switch_page(place("tuning").path, query_params={"view": "profiles"})


def key_of(source: str, unit: str) -> str:
    return f"boost_{source}" if unit == "raw" else f"boost_{source}_sd"


def in_unit(profile: Profile, unit: str, sd: float | None) -> dict[str, float]:
    """The boosts of a profile by source, in a unit; where cosines do not spread, SD counts as 1."""
    scale = sd or 1.0
    factor = 1.0 if profile.unit == unit else scale if unit == "raw" else 1.0 / scale
    return {s: float(profile.weights.get(s, 0.0)) * factor for s in SOURCES}


def _other(boost: float, unit: str, sd: float | None) -> str:
    if sd is None:
        return ""
    return f" = {boost / sd:+.1f} SD" if unit == "raw" else f" SD = {boost * sd:+.3f}"


def _help(sd: float | None) -> str:
    spread_now = "They do not spread for this query." if sd is None else f"For this query 1 SD is {sd:.3f}."
    return f"SD: standard deviations of this query's cosines over the dialog. {spread_now}"


def _convert() -> None:
    """The same boosts in the other unit, as far as its slider reaches."""
    state = st.session_state
    was, sd = state.get("desk.scale", ("raw", None))
    now = state.get("unit") or was
    if now == was:
        return
    factor = (sd or 1.0) if now == "raw" else 1.0 / (sd or 1.0)
    scale = SCALES["sd" if now == "sd" else "raw"]
    for source in SOURCES:
        if (key := key_of(source, was)) in state:
            boost = round(state[key] * factor / scale.step) * scale.step
            state[key_of(source, now)] = round(min(max(boost, scale.low), scale.high), 3)


def _reset(active: Profile) -> None:
    state = st.session_state
    state["unit"] = active.unit
    for source in SOURCES:
        state[key_of(source, active.unit)] = float(active.weights.get(source, 0.0))
        state[f"quota_{source}"] = active.quotas.get(source)
    state["fusion"] = float(active.fusion)
    state["budget"] = active.budget_chars
