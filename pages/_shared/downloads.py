"""The one way by which a file leaves a page: what the view shows, made at the click, and recorded when it is made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages._shared import veil


def button(
    label: str,
    make: Callable[[], tuple[bytes, int]],
    *,
    what: str,
    file_name: str,
    mime: str,
    key: str,
    help: str | None = None,
    quiet: bool = True,
) -> None:
    """`make`: the file and how many rows it has, called outside of the page's run. `what` names it in the record."""
    st.download_button(
        label,
        data=partial(veil.taking(what), make),
        file_name=file_name,
        mime=mime,
        key=key,
        on_click="ignore",
        icon=":material/download:",
        type="tertiary" if quiet else "secondary",
        help=help,
    )
