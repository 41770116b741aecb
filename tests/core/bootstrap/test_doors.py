"""What of core can be reached from outside, and that each of it asks who comes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

import pytest

from core.access import ACTIONS
from core.access.room import ANYBODY, PRODUCT, Guarded, guarded
from core.bootstrap import Core
from core.bootstrap.doors import DOORS, OPEN
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, ai, run_as, system, user
from tests.support.dialogs import body


def held(room: Any) -> Mapping[str, Any]:
    """What a room holds, by its public names."""
    found = {f.name: getattr(room, f.name) for f in fields(room)} if is_dataclass(room) else vars(room)
    return {name: value for name, value in found.items() if not name.startswith("_")}


def is_room(value: Any) -> bool:
    """Something of core that does things, or that holds such."""
    if not type(value).__module__.startswith("core."):
        return False
    return not is_dataclass(value) or any(is_room(inner) or callable(inner) for inner in held(value).values())


def reachable(room: Any, path: str) -> Iterator[str]:
    """Each method and property of a room and of the rooms in it, but not of those that a rule names whole."""
    for name, made in inspect.getmembers_static(type(room)):
        does = inspect.isroutine(made) or isinstance(made, property)
        if (not name.startswith("_") or name == "__call__") and does and name not in held(room):
            yield f"{path}.{name}"
    for name, value in held(room).items():
        if is_room(value):
            yield from [f"{path}.{name}"] if f"{path}.{name}" in DOORS else reachable(value, f"{path}.{name}")
        elif callable(value):
            yield f"{path}.{name}"


def test_every_method_has_a_rule(core: Core) -> None:
    """None without one, and none for what is gone: a new method of core is closed until somebody says who may."""
    found = set()
    for field in fields(core):
        room = getattr(core, field.name)
        assert isinstance(room, Guarded) is (field.name not in OPEN), field.name
        if field.name not in OPEN:
            found |= set(reachable(room._room, field.name))
    assert found - set(DOORS) == set()
    assert set(DOORS) - found == set()


def test_rules_name_actions() -> None:
    """No rule asks for what there is not; what somebody may change is never anybody's."""
    assert set(DOORS.values()) <= {*ACTIONS, ANYBODY, PRODUCT}


def test_nobody_comes_in(core: Core) -> None:
    """Somebody without a role is refused at every door that asks, and so is a thread in which nobody acts."""
    for path in sorted(path for path, rule in DOORS.items() if rule != ANYBODY):
        *rooms, name = path.split(".")
        for actor in (user("x"), user("y", roles=("*",))):
            with run_as(actor), pytest.raises(Forbidden):  # by the door: no method takes such arguments
                getattr(attrgetter(".".join(rooms))(core), name)(*[object()] * 20)


def test_roles_at_the_door(core: Core) -> None:
    """What a role may not read is refused in core itself, and what it may is answered."""
    core.ingest.ingest(body(None, ruId="ru-1042", tuId="tu-9001"))
    core.events.flush()
    with run_as(user("x", roles=("viewer",))):
        assert core.dialogs.list().rows and core.status("ru-1042", "tu-9001")
        for refused in (
            core.events.store.find,
            core.companion.records.tasks.list,
            core.companion.reflection.facts.list,
            core.companion.missions.list,
            core.companion.chat.conversations,
            core.companion.router.choices.revoke,
            core.merges.list,
        ):
            with pytest.raises(Forbidden, match="You may not"):
                refused()
    with run_as(user("x", roles=("auditor",))):
        assert core.events.store.find().rows


def test_what_only_the_product_does(core: Core) -> None:
    """And an admin; no other person, whatever roles it has, and no AI."""
    roles = ("viewer", "auditor", "tuner", "operator", "owner")
    an_ai = ai("x", "X", mission_id="m", iteration_id="i", rationale="r", roles=("admin",))
    for actor in (user("x", roles=roles), an_ai):
        with run_as(actor), pytest.raises(Forbidden, match="Only the product"):
            core.retrievals.prune()
    for actor in (system("rule"), LOCAL_OPERATOR):
        with run_as(actor):
            assert core.retrievals.prune() == 0


def test_a_method_that_no_rule_names_is_closed() -> None:
    """Also for an admin, so that it cannot be forgotten; data and what begins with an underscore go through."""

    class Room:
        name = "x"
        _kept = "y"

        def read(self) -> str:
            return "read"

    room = guarded(Room(), {"read": "status"})
    assert (room.read(), room.name, room._kept) == ("read", "x", "y")
    with pytest.raises(Forbidden):
        _ = guarded(Room(), {}).read
