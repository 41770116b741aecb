"""The tables of rules and nudges, through their SQL functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.companion.contract import Nudge, Priority
from core.companion.reflect.pulse.slots import RuleState
from core.db.client import Database
from core.events.event import Event

Outcome = Literal["acted", "dismissed", "snoozed", "expired", "auto_resolved"]


@dataclass(frozen=True)
class ShownNudge:
    """A nudge as it is shown; `action_*` as the rule gave it."""

    id: str
    rule_id: str
    type: str
    module: str
    title: str
    body: str
    priority: Priority
    shown_at: datetime
    expires_at: datetime | None = None
    action_label: str | None = None
    action_route: str | None = None
    action_tool: str | None = None
    action_params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stat:
    """Outcomes of one rule, type and local hour."""

    rule_id: str
    type: str
    hour: int
    acted: int
    total: int


class PulseStore:
    """Thread-safe. Source: companion_rule_state, companion_nudges, companion_nudge_outcomes. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def states(self) -> dict[str, RuleState]:
        rows = self._db.rpc("companion_rule_states", {}, read=True, returns=list)
        return {row["rule_id"]: _state(row) for row in rows}

    def claim(self, rule_id: str, slot: str, last_slot: str | None, now: datetime) -> bool:
        params = {"p_rule": rule_id, "p_slot": slot, "p_last_slot": last_slot, "p_now": now.isoformat()}
        return bool(self._db.rpc("companion_rule_claim", params, read=False, returns=dict)["held"])

    def done(
        self, rule_id: str, slot: str | None, now: datetime, nudges: Sequence[Nudge], *, used: bool = True
    ) -> list[str]:
        """End a look; without a slot it was an event's. The ids of nudges that are new."""
        params = {"p_rule": rule_id, "p_slot": slot, "p_now": now.isoformat(), "p_used": used}
        rows = [_row(nudge) for nudge in nudges]
        answer = self._db.rpc("companion_rule_done", params | {"p_nudges": rows}, read=False, returns=dict)
        return [str(id) for id in answer["said"]]

    def open(self, now: datetime, module: str | None = None) -> tuple[ShownNudge, ...]:
        """By priority, then by age."""
        params: dict[str, Any] = {"p_now": now.isoformat(), "p_module": module}
        return tuple(_shown(row) for row in self._db.rpc("companion_nudge_list", params, read=True, returns=list))

    def recent(self, since: datetime) -> dict[str, datetime]:
        found = self._db.rpc("companion_nudge_recent", {"p_since": since.isoformat()}, read=True, returns=dict)
        return {id: datetime.fromisoformat(at) for id, at in found.items()}

    def expired(self, now: datetime) -> tuple[ShownNudge, ...]:
        found = self._db.rpc("companion_nudge_expired", {"p_now": now.isoformat()}, read=True, returns=list)
        return tuple(_shown(row) for row in found)

    def resolve(
        self, nudge_id: str, outcome: Outcome, now: datetime, zone: str, event: Event, until: datetime | None = None
    ) -> float | None:
        """Milliseconds from being shown to the outcome; None where it has one already."""
        params: dict[str, Any] = {"p_id": nudge_id, "p_outcome": outcome, "p_now": now.isoformat(), "p_zone": zone}
        params |= {"p_until": until.isoformat() if until else None, "p_event": event.row()}
        answer = self._db.rpc("companion_nudge_resolve", params, read=False, returns=dict)
        return float(answer["latency_ms"]) if answer["changed"] else None

    def stats(self, since: datetime) -> tuple[Stat, ...]:
        rows = self._db.rpc("companion_nudge_stats", {"p_since": since.isoformat()}, read=True, returns=list)
        return tuple(Stat(**row) for row in rows)

    def change(self, rule_id: str, change: Mapping[str, Any], event: Event) -> bool:
        params = {"p_rule": rule_id, "p_change": dict(change), "p_event": event.row()}
        return bool(self._db.rpc("companion_rule_change", params, read=False, returns=dict)["changed"])

    def prune(self, before: datetime) -> int:
        params = {"p_before": before.isoformat()}
        return int(self._db.rpc("companion_prune_nudges", params, read=False, returns=dict)["deleted"])


def _state(row: Mapping[str, Any]) -> RuleState:
    moments = {
        name: datetime.fromisoformat(row[name]) if row[name] else None
        for name in ("last_run_at", "learned_from", "last_nudge_at")
    }
    return RuleState(
        rule_id=row["rule_id"],
        enabled=row["enabled"],
        last_slot=row["last_slot"],
        hour_shift=row["hour_shift"],
        demoted=row["demoted"],
        **moments,
    )


def _row(nudge: Nudge) -> dict[str, Any]:
    names = ("title", "body", "action_label", "action_route", "action_tool")
    return {
        "id": nudge.id,
        "type": nudge.type,
        "module": nudge.module,
        "priority": nudge.priority,
        "expires_at": nudge.expires_at.isoformat() if nudge.expires_at else None,
        "data": {**{name: getattr(nudge, name) for name in names}, "action_params": dict(nudge.action_params)},
    }


def _shown(row: Mapping[str, Any]) -> ShownNudge:
    return ShownNudge(
        id=row["id"],
        rule_id=row["rule_id"],
        type=row["type"],
        module=row["module"],
        priority=row["priority"],
        shown_at=datetime.fromisoformat(row["shown_at"]),
        expires_at=datetime.fromisoformat(row["expires_at"]) if row["expires_at"] else None,
        **row["data"],
    )
