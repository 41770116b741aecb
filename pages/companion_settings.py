"""Companion settings: which models may be asked what, what an AI may do, which rules speak; each holds at once."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._shared import address, guard, session
from pages._shared.companion_settings import models, policy, rules
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.operations import outcome

VIEWS: dict[str, tuple[str, Callable[[], None]]] = {
    "models": ("Models and consent", models.show),
    "policy": ("What an AI may do", policy.show),
    "rules": ("Rules and learning", rules.show),
}

here = guard.enter("companion_settings")
page_head(
    here, "What models may be given, what an AI may do, which rules speak. Each change holds at once, everywhere."
)

with boundary(here.title):
    outcome.show()
    if not session.may("companion_policy"):
        st.caption("Models, consent and what an AI may do are changed by an admin; here is how they stand.")
    words = {name: label for name, (label, _) in VIEWS.items()}
    VIEWS[address.segments("Settings", words, "view", default="models", labelled=False)][1]()
