"""The word that somebody types before what cannot be taken back lightly."""

from __future__ import annotations

import streamlit as st

from pages._shared import session


def button(label: str, word: str, *, key: str) -> bool:
    """Draws the field and the button; the button works once the word stands there. True where it was pressed.

    The field is empty again after every action, so that a word typed for one thing does not stand for the next.
    """
    turn = session.remembered(f"typed.{key}", 0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        given = st.text_input(f'Type "{word}" to confirm', key=f"{key}-word-{turn}", width=260)
        ready = (given or "").strip().lower() == word
        pressed = st.button(label, key=f"{key}-do", type="primary", disabled=not ready)
    return pressed and ready


def done(key: str) -> None:
    session.remember(f"typed.{key}", session.remembered(f"typed.{key}", 0) + 1)
