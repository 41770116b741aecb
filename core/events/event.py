"""One fact, frozen, in the form in which it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from core.events.actor import Actor

EventClass = Literal["audit", "observation"]


@dataclass(frozen=True)
class Meta:
    """Who, when, about what; `caused_by` is the id of the event that led to this one."""

    id: str
    timestamp: datetime
    app_id: str
    actor: Actor
    event_class: EventClass
    collection: str | None = None
    record_id: str | None = None
    user_id: str | None = None
    caused_by: str | None = None


@dataclass(frozen=True)
class Event:
    """A fact in the past tense. The payload is frozen to its leaves and holds counts, hashes and ids only."""

    type: str
    payload: Mapping[str, Any]
    meta: Meta

    def __post_init__(self) -> None:
        object.__setattr__(self, "payload", _frozen(self.payload))

    def row(self) -> dict[str, Any]:
        """The JSON object that `companion_append_events` takes, and every function that stores an event itself."""
        meta, actor = self.meta, self.meta.actor
        return {
            "event_id": meta.id,
            "type": self.type,
            "class": meta.event_class,
            "payload": _thawed(self.payload),
            "ts": meta.timestamp.isoformat(),
            "app_id": meta.app_id,
            "collection": meta.collection,
            "record_id": meta.record_id,
            "user_id": meta.user_id,
            "actor": actor.as_json(),
            "actor_kind": actor.kind,
            "mission_id": actor.mission_id,
            "iteration_id": actor.iteration_id,
            "caused_by": meta.caused_by,
        }


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({k: _frozen(v) for k, v in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_frozen(v) for v in value)
    return value


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _thawed(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return [_thawed(v) for v in value]
    return value
