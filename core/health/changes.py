"""Events for what changed; a report like the one before tells nothing."""

from __future__ import annotations

from datetime import datetime

from core.events.actor import system
from core.events.emitter import Events
from core.health.report import HealthReport

_ACTOR = system("bootstrap")


class Changes:
    """Tells HealthDegraded, HealthRecovered, NeedsMigrationDetected and DestructiveMigrationFlagged, each once.

    The first report of a process only sets the mark. `unknown` changes nothing: a check without an answer says nothing
    about its component. Not thread-safe.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._bad: dict[str, datetime] = {}
        self._destructive: set[str] = set()
        self._first = True

    def tell(self, report: HealthReport) -> None:
        """Emit what differs from the reports before."""
        for component in report.components:
            if component.status in ("down", "degraded") and component.name not in self._bad:
                self._bad[component.name] = report.checked_at
                self._emit("HealthDegraded", component=component.name, status=component.status)
                if component.name == "schema" and component.status == "down":
                    self._emit("NeedsMigrationDetected", code="schema")
            elif component.status == "ok" and component.name in self._bad:
                lasted = (report.checked_at - self._bad.pop(component.name)).total_seconds()
                self._emit("HealthRecovered", component=component.name, downtime_s=lasted)
        found = report.component("migrations").facts.get("destructive", {})
        for file in set(found) - self._destructive:
            self._destructive.add(file)
            self._emit("DestructiveMigrationFlagged", file=file, statement=found[file].replace(" ", "-"))
        self._first = False

    def _emit(self, event_type: str, **payload: object) -> None:
        if not self._first:
            self._events.emit(event_type, payload, actor=_ACTOR)
