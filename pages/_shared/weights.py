"""The boosts in force, and what they apply to."""

from __future__ import annotations

import streamlit as st

from core.memory.sources import SOURCES
from pages._shared import tables
from pages._shared.layout import panel
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

APPLIES = (
    "These boosts apply to searches through this product: its pages, its API and its command line. "
    "The existing service passes its own with every search: to follow a change it has to adopt the same numbers."
)


def weights_card() -> None:
    active = core().search.active_profile()
    rows = [{"source": source, "boost": float(active.weights.get(source, 0.0))} for source in SOURCES]
    unit = "in SD of the query's cosines" if active.unit == "sd" else "added to cosine"
    columns = (Column("source", "Source"), Column("boost", f"Boost ({unit})", "signed"))
    says = "By the source of a chunk; a source without a boost counts 0."
    if not active.plain:
        says += " More rules than these decide: see Tuning, Profiles."
    with panel(f"Active weights, version {active.version}", says):
        tables.show(rows, columns, key="weights", zone=my_zone_name(), height="content")
        tables.downloads(rows, ["source", "boost"], name="weights", key="weights-file")
        st.caption(APPLIES)
