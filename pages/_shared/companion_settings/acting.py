"""A choice, made once as the one who is here; what goes wrong is said above, and the old choice stands."""

from __future__ import annotations

from collections.abc import Callable

from pages._shared.companion import mind
from pages._shared.operations import outcome


def change(what: str, act: Callable[[], object], said: str) -> None:
    """For callbacks."""

    def done() -> bool:
        act()
        return True

    if mind.attempt(what, lambda _: done()):
        outcome.say("done", said)
