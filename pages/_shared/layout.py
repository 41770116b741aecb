"""The shapes of a page: panels (a card with a bold title and one grey line) and rows of figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import streamlit as st


@contextmanager
def panel(title: str, says: str = "", *, key: str | None = None) -> Iterator[None]:
    """A card; in a row of columns all cards are of one height. Title and line are ours, never somebody's text."""
    with st.container(border=True, height="stretch", gap="xsmall", key=key):
        st.markdown(f"**{title}**")
        if says:
            st.caption(says)
        yield


@dataclass(frozen=True)
class Figure:
    """One number of a page with what it counts; `help` gives the exact value or what is meant.

    `beneath` is a grey line, for what it is compared with.
    """

    label: str
    value: str
    help: str | None = None
    beneath: str | None = None


def figures(*shown: Figure) -> None:
    """Cards of equal height in a row, two a line on a narrow screen."""
    with st.container(horizontal=True, gap="small"):
        for figure in shown:
            st.metric(
                figure.label,
                figure.value,
                figure.beneath,
                delta_color="off",
                delta_arrow="off",
                help=figure.help,
                border=True,
                height="stretch",
                width="stretch",
            )
