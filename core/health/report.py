"""The state of every component, and the one word for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Status = Literal["ok", "degraded", "down", "unknown"]

ESSENTIAL = ("auth", "database")
# Says nothing about the system itself: a webhook that fails must not be the reason for another call of it.
ASIDE = ("webhook",)


@dataclass(frozen=True)
class Verdict:
    """What a check found: a status, the reason in words for an operator, what to do, plain facts, and a code for the
    history where the status is not ok."""

    status: Status
    reason: str
    hint: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""


@dataclass(frozen=True)
class Component:
    """One component. `latency_ms` is the check's own time; `since` is when its status last changed here."""

    name: str
    label: str
    status: Status
    reason: str
    hint: str
    checked_at: datetime
    since: datetime
    latency_ms: float
    facts: Mapping[str, Any]
    code: str = ""

    def as_json(self) -> dict[str, Any]:
        """camelCase; nothing personal is in it."""
        return {
            "name": self.name,
            "label": self.label,
            "status": self.status,
            "reason": self.reason,
            "hint": self.hint,
            "checkedAt": self.checked_at.isoformat(),
            "since": self.since.isoformat(),
            "latencyMs": round(self.latency_ms, 1),
            "facts": dict(self.facts),
        }


@dataclass(frozen=True)
class HealthReport:
    """All components in a fixed order."""

    components: tuple[Component, ...]
    checked_at: datetime

    @property
    def status(self) -> Status:
        """`down` unless Auth and the chunk table both work; then `ok` only if every component is. Unknown is not ok."""
        of = {component.name: component.status for component in self.components if component.name not in ASIDE}
        if any(of.get(name, "unknown") in ("down", "unknown") for name in ESSENTIAL):
            return "down"
        return "ok" if all(status == "ok" for status in of.values()) else "degraded"

    @property
    def reason(self) -> str:
        """The first thing to look at, in its own words; empty when all is well."""
        bad = (c for c in self.components if c.status != "ok" and c.name not in ASIDE)
        worst = sorted(bad, key=_urgency)
        return f"{worst[0].label}: {worst[0].reason}" if worst else ""

    def component(self, name: str) -> Component:
        """One component. Errors: KeyError."""
        return {c.name: c for c in self.components}[name]

    def as_json(self) -> dict[str, Any]:
        """The body of GET /health."""
        return {
            "status": self.status,
            "reason": self.reason,
            "checkedAt": self.checked_at.isoformat(),
            "components": [component.as_json() for component in self.components],
        }


def _urgency(component: Component) -> tuple[bool, int]:
    return component.name not in ESSENTIAL, ("down", "degraded", "unknown", "ok").index(component.status)
