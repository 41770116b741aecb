"""Whom a guard let in, for the application behind it in the same process."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from core.events.actor import Actor

_KEY = "memory_desk.caller"


def leave_caller(scope: MutableMapping[str, Any], actor: Actor) -> None:
    """Note in an ASGI scope who calls."""
    scope[_KEY] = actor


def caller_of(scope: Mapping[str, Any]) -> Actor | None:
    """Who calls, None where no guard has said."""
    found = scope.get(_KEY)
    return found if isinstance(found, Actor) else None
