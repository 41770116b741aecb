"""Dialogs: the list, and one dialog at a time: what is stored of it, how fresh it is, what is wrong with it."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard, session
from pages._shared.companion import inbox, nudges
from pages._shared.dialogs import detail, listing
from pages._shared.feedback import boundary
from pages._shared.head import page_head

here = guard.enter("dialogs")
chosen = session.dialog()
head = page_head(here, "Which dialogs are stored, what is known in each, how fresh it is and what looks wrong.")
if chosen is None:  # whoever opened a dialog came for it
    inbox.show("memory")
    nudges.show("memory")

with boundary(here.title):
    if chosen is None:
        listing.show(head)
    else:
        st.button(
            "All dialogs", icon=":material/arrow_back:", type="tertiary", on_click=session.choose_dialog, args=(None,)
        )
        detail.show(chosen, head)
