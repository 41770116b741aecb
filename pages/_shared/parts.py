"""Parts of a page for some of its readers: drawn only for those who may do what they are about. Core asks again."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

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
