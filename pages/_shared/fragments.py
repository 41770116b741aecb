"""Parts of a page that run again by themselves: as the person who looks at them, with the roles of that moment."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st

from core.access.sessions import NotSignedIn
from core.events import run_as
from pages._shared import session


def fragment(show: Callable[..., Any] | None = None, *, run_every: float | None = None) -> Callable[..., Any]:
    """`st.fragment` for a part that asks core. Where the sign-in is over, the whole page runs again and says so."""

    def made(part: Callable[..., Any]) -> Callable[..., Any]:
        @st.fragment(run_every=run_every)
        @wraps(part)
        def drawn(*arguments: Any, **named: Any) -> Any:
            try:
                actor = session.actor()
            except NotSignedIn:
                st.rerun()
            with run_as(actor):
                return part(*arguments, **named)

        return drawn

    return made(show) if show is not None else made
