"""An event as lines: what it is about, before and after where it says so, why, and the other facts. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.events.acts import by_of
from core.events.store import StoredEvent

_PAIRS = (("prev_", "new_"), ("from_", "to_"), ("old_", "new_"), ("before_", "after_"))
_WHY = ("reason", "why")
_ABOUT = ("dialog_key", "request_id")


@dataclass(frozen=True)
class Fact:
    """One line; `before` is None where the event holds only what is so afterwards."""

    what: str
    before: str | None
    after: str


def facts(payload: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Pairs such as prev_hash and new_hash as before and after, then the rest in its order."""
    left = {name: value for name, value in payload.items() if name not in (*_ABOUT, *_WHY)}
    found: list[Fact] = []
    if {"before", "after"} <= set(left):
        found.append(Fact("value", _plain(left.pop("before")), _plain(left.pop("after"))))
    for was, now in _PAIRS:
        for name in [n for n in left if n.startswith(was) and now + n.removeprefix(was) in left]:
            what = name.removeprefix(was)
            found.append(Fact(_words(what), _plain(left.pop(name)), _plain(left.pop(now + what))))
    return (*found, *(Fact(_words(name), None, _plain(v)) for name, v in left.items() if v not in (None, [], {}, "")))


def why(event: StoredEvent) -> str:
    """The reason that the event or its actor gives; empty for none."""
    given = next((str(event.payload[name]) for name in _WHY if event.payload.get(name)), "")
    return given or (event.actor.rationale or "")


def who(event: StoredEvent) -> str:
    """Who did it; of an AI also for whom, and who said yes."""
    name = event.actor.display_name or event.actor.principal_id
    if event.actor.kind != "ai":
        return name
    whom = f" for {event.on_behalf_of}" if event.on_behalf_of else ""
    return f"{name}{whom}, approved by {event.approved_by}" if event.approved_by else f"{name}{whom}"


def target(event: StoredEvent) -> str:
    """What it was done to: the record, else the dialog or the request; empty for none."""
    return str(event.record_id or next((event.payload[name] for name in _ABOUT if event.payload.get(name)), "") or "")


def row(event: StoredEvent) -> dict[str, Any]:
    """One event as a row of a table and of its file; the file has the whole payload too."""
    found = facts(event.payload)
    return {
        "seq": event.seq,
        "at": event.timestamp,
        "type": event.type,
        "actor": event.actor.display_name or event.actor.principal_id,
        "actor_kind": by_of(event.actor),
        "on_behalf_of": event.on_behalf_of,
        "approved_by": event.approved_by,
        "principal": event.actor.principal_id,
        "part": event.app_id,
        "class": event.event_class,
        "target": target(event),
        "before": ", ".join(f"{f.what} {f.before}" for f in found if f.before is not None),
        "after": ", ".join(f"{f.what} {f.after}" for f in found),
        "reason": why(event),
        "event_id": event.id,
        "caused_by": event.caused_by,
        "payload": json.dumps(event.payload, ensure_ascii=False, sort_keys=True),
    }


FIELDS = (
    "seq", "at", "type", "actor", "actor_kind", "on_behalf_of", "approved_by", "principal", "part", "class", "target",
    "before", "after", "reason", "event_id", "caused_by", "payload",
)  # fmt: skip


def _words(name: str) -> str:
    return name.replace("_", " ")


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(v)}" for name, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(v) for v in value)
    return f"{value:,}" if isinstance(value, int) else str(value)
