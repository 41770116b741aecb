"""What the operator has chosen for the companion, by topic: kept in the database, so that every process sees it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any

from core.db.client import Database
from core.events.event import Event

KEPT_S = 5.0  # of a figure that a rule or a goal asks for; decisions of policy are read anew each time


class CompanionSettings:
    """Topics of plain values. Thread-safe. Source: companion_settings, companion_patch_settings."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = Lock()
        self._kept: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def read(self, topic: str, *, max_age_s: float = 0.0) -> Mapping[str, Any]:
        """The values of a topic, {} for none; with `max_age_s` as this process read them a moment ago.

        Errors: DatabaseError.
        """
        with self._lock:
            kept = self._kept.get(topic)
        if kept and max_age_s and time.monotonic() - kept[0] < max_age_s:
            return kept[1]
        rows = self._db.sample("companion_settings", "key,value", order="key", limit=1, where={"key": topic})
        return self._keep(topic, rows[0]["value"] if rows else {})

    def patch(self, topic: str, changes: Mapping[str, Any], event: Event | None = None) -> Mapping[str, Any]:
        """Change some values, None takes one away; with its event in the same transaction. Errors: DatabaseError."""
        params = {"p_key": topic, "p_patch": dict(changes), "p_event": event.row() if event else None}
        return self._keep(topic, self._db.rpc("companion_patch_settings", params, read=False, returns=dict))

    def figure(self, name: str, default: float) -> float:
        """A number of a rule, goal or streak as the operator has set it, else the default."""
        value = self.read("figures", max_age_s=KEPT_S).get(name, default)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default

    def _keep(self, topic: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            self._kept[topic] = (time.monotonic(), values)
        return values
