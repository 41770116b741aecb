"""Events of the owner's own day, as somebody sees them whom that day does not concern. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.events.store import StoredEvent

# Tasks, appointments, drinks, meals and places: one person's, whoever else may read the log.
OWN_DAY = frozenset({"todo", "calendar", "drink", "food", "places"})
WITHHELD = "[own day]"


def is_own(event: StoredEvent) -> bool:
    """Whether it tells of the own day: of one of its parts, or of a goal or a nudge of such a part."""
    return event.app_id in OWN_DAY or event.payload.get("module") in OWN_DAY


def without_own_day(event: StoredEvent) -> StoredEvent:
    """That something was done, by whom and when; ids stay, since they lead from one event to the next."""
    if not is_own(event):
        return event
    actor = replace(event.actor, rationale=WITHHELD) if event.actor.rationale else event.actor
    return replace(event, payload=_bare(event.payload), actor=actor)


def _bare(payload: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("module", "tool", "status", "old_status", "new_status", "decision", "success", "error_class")
    return {n: v if n.endswith("_id") or n in kept else WITHHELD for n, v in payload.items()}
