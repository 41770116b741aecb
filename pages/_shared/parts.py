"""Parts of a page for some of its readers: drawn only for those who may do what they are about. Core asks again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import streamlit as st

from pages._shared import session

P = ParamSpec("P")


def only(action: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A part that draws nothing for somebody who may not do this."""

    def made(part: Callable[P, None]) -> Callable[P, None]:
        @wraps(part)
        def drawn(*arguments: P.args, **named: P.kwargs) -> None:
            if session.may(action):
                part(*arguments, **named)

        return drawn

    return made


def button(action: str, label: str, **named: Any) -> bool:
    """A button of Streamlit for those who may do this; nothing, and False, for others."""
    return session.may(action) and st.button(label, **named)
