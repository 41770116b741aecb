"""The words of the dialog for a what-if, fetched when the slider first asks for them."""

from __future__ import annotations

import streamlit as st

from core.errors import DatabaseError
from core.memory.hits import Exploration
from core.memory.retrieval import Profile
from pages._shared import session
from pages._shared.resources import core


def with_words(found: Exploration, profile: Profile) -> Exploration:
    """The exploration with BM25 where the profile weighs it, kept for the next move; as it was where that fails."""
    if not profile.needs_texts or found.bm25 is not None or found.fallback:
        return found
    try:
        found = core().search.with_words(found)
    except DatabaseError as failure:
        st.warning(f"Without the words: the texts of the dialog could not be read. {failure.what}")
        return found
    session.keep_exploration(found)
    return found
