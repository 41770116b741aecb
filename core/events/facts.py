"""How the lists of events are written: a fact by name, class and the kinds of its fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from core.events import fields
from core.events.event import EventClass
from core.events.event_type import EventType

AUDIT: Final[EventClass] = "audit"
OBSERVATION: Final[EventClass] = "observation"

KINDS: Mapping[str, fields.Field] = {
    "ident": fields.ident,
    "word": fields.word,
    "words": fields.words,
    "title": fields.title,
    "day": fields.day,
    "moment": fields.moment,
    "count": fields.count,
    "counts": fields.counts,
    "number": fields.number,
    "flag": fields.flag,
}

Fact = Callable[[str], EventType]


def fact(name: str, event_class: EventClass, *, reversible: bool = False, **named: str) -> Fact:
    """An event type without its room yet: per kind of field the names of the fields, apart by spaces."""
    known = {field: KINDS[kind] for kind, names in named.items() for field in names.split()}
    return lambda app_id: EventType(name, app_id, event_class, MappingProxyType(known), reversible)


def room(app_id: str, *facts: Fact) -> tuple[EventType, ...]:
    """The event types of one part of the product."""
    return tuple(make(app_id) for make in facts)
