"""The four modules of the product's own parts."""

from __future__ import annotations

from core.companion.contract import Module
from core.companion.modules.desk import Desk
from core.companion.modules.health import health
from core.companion.modules.memory import memory
from core.companion.modules.snapshots import snapshots
from core.companion.modules.usage import usage


def ops_modules(desk: Desk) -> tuple[Module, ...]:
    return tuple(make(desk) for make in (memory, snapshots, usage, health))
