"""Threads begin with nobody acting; tests that press in several at once say here that it is the one at this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from core.events.actor import LOCAL_OPERATOR, run_as

T = TypeVar("T")


def as_operator(do: Callable[..., T]) -> Callable[..., T]:
    """The same call, made by the local operator in whatever thread it runs."""

    def done(*arguments: Any, **named: Any) -> T:
        with run_as(LOCAL_OPERATOR):
            return do(*arguments, **named)

    return done
