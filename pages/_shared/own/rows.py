"""One record in a list: its words as they are, a grey line, and what can be done with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def row(key: str, title: str, beneath: str, *badges: tuple[str, str]) -> Iterator[None]:
    """Draws the row; buttons are drawn inside. `title` is somebody's text, the rest is ours."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        with st.container(gap="xxsmall", width="stretch"):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.text(title, width="content")
                for words, colour in badges:
                    st.badge(words, color=colour)  # type: ignore[arg-type]
            if beneath:
                st.caption(beneath)
        with st.container(horizontal=True, gap="small", width="content"):
            yield
