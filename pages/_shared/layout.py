"""The one shape of a panel: a bordered card, a bold title, one grey line, then what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def panel(title: str, says: str = "", *, key: str | None = None) -> Iterator[None]:
    """A card; in a row of columns all cards are of one height. Title and line are ours, never somebody's text."""
    with st.container(border=True, height="stretch", gap="xsmall", key=key):
        st.markdown(f"**{title}**")
        if says:
            st.caption(says)
        yield
