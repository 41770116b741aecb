"""The boosts as sliders, from the active weights; in the address, so that a link shows the same what-if."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.memory import whatif
from core.memory.hits import Exploration
from core.memory.sources import SOURCES
from pages._shared.layout import panel

LOW, HIGH, STEP = -0.3, 0.5, 0.001


def draw(found: Exploration) -> dict[str, float]:
    """The sliders of the sources that this dialog has; the weights as they stand."""
    weights: dict[str, float] = {s: float(found.active_weights.get(s, 0.0)) for s in SOURCES}
    deviations = whatif.boost_in_sd(found.candidates, weights)
    version = f"version {found.weights_version}" if found.weights_version else "given with the search"
    says = f"From the active weights, {version}. A move is computed here and asks the database nothing."
    with panel("Boosts (added to cosine)", says):
        for source in [s for s in SOURCES if found.candidates.mask(s).any()]:
            sd = deviations[source]
            weights[source] = st.slider(
                source if sd is None else f"{source} · active {weights[source]:+.3f} = {sd:+.1f} SD",
                LOW,
                HIGH,
                weights[source],
                STEP,
                format="%+.3f",
                key=_key(source),
                bind="query-params",
                help="SD: standard deviations of this query's cosines over the dialog.",
            )
        active = {s: float(found.active_weights.get(s, 0.0)) for s in SOURCES}
        st.button(
            "Reset to the active weights",
            key="reset-boosts",
            icon=":material/restart_alt:",
            disabled=all(abs(weights[s] - active[s]) < STEP / 2 for s in SOURCES),
            on_click=_reset,
            args=(active,),
        )
    return weights


def _key(source: str) -> str:
    return f"boost_{source}"


def _reset(active: Mapping[str, float]) -> None:
    for source, boost in active.items():
        st.session_state[_key(source)] = boost
