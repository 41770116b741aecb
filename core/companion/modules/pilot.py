"""The five modules of the operator's own day."""

from __future__ import annotations

from core.companion.contract import Module
from core.companion.modules.calendar import calendar
from core.companion.modules.drink import drink
from core.companion.modules.food import food
from core.companion.modules.places import places
from core.companion.modules.todo import todo
from core.companion.records.records import Records


def pilot_modules(records: Records) -> tuple[Module, ...]:
    return tuple(make(records) for make in (todo, calendar, drink, food, places))
