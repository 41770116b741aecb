"""A room of core with a guard at its door: who calls a method from outside has to be allowed what the method does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from core.access.roles import acting, permit
from core.errors import Forbidden
from core.events.actor import Actor

# Instead of an action. ANYBODY: names and states that tell of nobody, and what asks by itself for what it is about to
# do. PRODUCT: what the product does by itself, and an admin where something has to be mended.
ANYBODY, PRODUCT = "(anybody)", "(the product itself)"

Rules = Mapping[str, str]
Room = TypeVar("Room")


class Guarded:
    """Stands before a room. `rules`: method or room inside, by its dotted path from here -> action.

    Data and what begins with an underscore go through. A method that no rule names is refused, whoever acts.
    """

    def __init__(self, room: Any, rules: Rules) -> None:
        self.__dict__.update(_room=room, _rules=rules, _inner={})

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._room, name)
        if name.startswith("_"):
            return found
        rule = self._rules.get(name)
        if rule is not None:
            if callable(found):
                return _asking(found, rule)
            _ask(rule, name)
            return found
        inside = self._inner.get(name)
        if inside is None or inside[0] is not found:
            below = {
                path.removeprefix(f"{name}."): to for path, to in self._rules.items() if path.startswith(f"{name}.")
            }
            if below:
                inside = self._inner[name] = (found, Guarded(found, below))
            elif callable(found) or _is_room(found):
                raise Forbidden(
                    "Nobody may do this.", detail=f"no rule of access for {type(self._room).__name__}.{name}"
                )
        return inside[1] if inside else found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _ask(self._rules.get("__call__", PRODUCT), "__call__")
        return self._room(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._room, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._room, name)


def guarded(room: Room, rules: Rules) -> Room:
    """The same room, for those outside."""
    return cast(Room, Guarded(room, rules))


def _asking(method: Callable[..., Any], rule: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def asked(*args: Any, **kwargs: Any) -> Any:
        _ask(rule, method.__name__)
        return method(*args, **kwargs)

    return asked


def _ask(rule: str, name: str) -> None:
    if rule == PRODUCT and not _of_the_product(acting()):
        raise Forbidden("Only the product itself does this.", detail=name)
    if rule not in (ANYBODY, PRODUCT):
        permit(rule)


def _of_the_product(actor: Actor) -> bool:
    return actor.kind == "system" or (actor.kind == "user" and "admin" in actor.roles)


def _is_room(value: Any) -> bool:
    # Values of core are frozen dataclasses and refuse to be changed; what does things is no dataclass at all.
    kind = type(value)
    return kind.__module__.startswith("core.") and not hasattr(kind, "__dataclass_fields__")
