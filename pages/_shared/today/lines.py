"""Small shapes of a card: a name with its figure, somebody's words, how far something is."""

from __future__ import annotations

import streamlit as st


def lines(*rows: tuple[str, int | float | str]) -> None:
    """Grey names at the left, figures at the right. Names are ours, and so are figures that are text."""
    with st.container(gap=None):
        for label, value in rows:
            with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
                st.caption(label, width="content")
                st.text(value if isinstance(value, str) else f"{value:,.0f}", width="content")


def said(*texts: str) -> None:
    """Somebody's words, a line each."""
    with st.container(gap="xxsmall"):
        for text in texts:
            st.text(text)


def bar(percent: float, words: str) -> None:
    """Of what is to be reached or not to be passed; full beyond it."""
    st.progress(min(1.0, max(0.0, percent / 100)), text=words)
