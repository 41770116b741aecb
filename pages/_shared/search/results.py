"""What a search found in one dialog, under weights that move: one fragment, no question to the database.

The fragment works on the exploration alone, so a slider costs one ranking in numpy and the drawing.
The first move of the slider for words alone reads the dialog's texts, once a search.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.memory.hits import Exploration
from pages._shared import formats, layout, session, veil
from pages._shared.fragments import fragment
from pages._shared.layout import Figure
from pages._shared.search import consequences, lexical, places, prompt, sliders, whynot, words
from pages._shared.search.view import view_of


@fragment
def show(found: Exploration) -> None:
    """Everything below the form."""
    chosen = session.dialog()
    if chosen and chosen.dialog_key != found.request.dialog_key:
        st.info("These results are of the dialog chosen before. Press Search for the one above.")
    figures(found)
    left, right = st.columns((1, 2))
    with left:
        profile = sliders.draw(found)
        found = words.with_words(found, profile)
    view = view_of(found, profile, _shower(found))
    with left:
        consequences.places(view)
    if not len(found.candidates):
        places.nothing(view)
        return
    with right:
        places.chart(view)
    places.table(view)
    left, right = st.columns(2)
    with left:
        whynot.show(view)
    with right:
        prompt.show(view)
    consequences.show(view)
    lexical.show(view)


def _shower(found: Exploration) -> Callable[[str], str]:
    """How texts are shown, kept with the search: who is known of its dialog is asked once, not by each slider."""
    if veil.revealed(found.request.dialog_key):
        return str
    search, kept = session.remembered("search-shower", (None, str))
    if search != found.as_of:
        kept = veil.shower(found.request.dialog_key)
        session.remember("search-shower", (found.as_of, kept))
    return kept


def figures(found: Exploration) -> None:
    """What was compared, what was not, and where the time went."""
    other, left_out = sum(found.other_models.values()), sum(found.excluded.values())
    names = ", ".join(f"{n} of {model or 'no model'}" for model, n in found.other_models.items())
    filters = ", ".join(f"{n} by {name.replace('_', ' ')}" for name, n in found.excluded.items() if n)
    time = found.latency
    parts = (time.embed_ms, time.database_ms, time.score_ms)
    layout.figures(
        Figure(
            "Chunks compared",
            f"{formats.count(found.searchable)} of {formats.count(found.total)}",
            f"Model {found.model}.",
        ),
        Figure("Other model, not searchable", formats.count(other), names or None),
        Figure("Left out by a filter", formats.count(left_out), filters or None),
        Figure(
            "Embed · DB · score (ms)",
            " · ".join(f"{ms:.1f}" if ms < 10 else f"{ms:.0f}" for ms in parts),
            f"{time.total_ms:.1f} ms in all; the database as seen from here. Moving a slider asks neither.",
        ),
    )
