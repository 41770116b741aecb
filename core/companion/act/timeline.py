"""What AIs did, by mission and iteration: read from the events that carry an AI as their actor.

Source: spec/companion.md, WB-1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from core.access.roles import permit
from core.db.client import Database

EVENTS, MOST = 200, 1000
Outcome = Literal["running", "reverted", "failed"]

# They tell of looks, words and waiting: nothing is different afterwards, so there is nothing to take back.
TELLS = frozenset(
    {
        *("CompanionToolCalled", "ProposalCreated", "ProposalDecided", "MissionIterationFinished", "IterationReverted"),
        *("CompanionConversationStarted", "CompanionMessageSent", "NudgeShown", "NudgeResolved", "RitualStarted"),
        *("SearchPerformed", "SearchFallbackUsed", "SearchEmpty", "SnapshotsCompared", "CleanupPreviewed"),
        *("HealthChecked", "HealthDegraded", "HealthRecovered", "ChainVerified", "TokensLogged"),
    }
)
# The same change told a second time: the event that says from what to what is the one that is taken back.
TWICE = {
    "TaskUpdated": ("due_date",),
    "CalendarEventUpdated": ("date", "end", "end_at", "end_date", "end_time", "start", "start_at", "start_date",
                             "start_time", "is_all_day", "day"),
}  # fmt: skip


@dataclass(frozen=True)
class Done:
    """One event of an AI. `outcome`: what became of taking it back, None where nobody tried; `reason` of a failure.
    `since`, in one iteration alone: types of events by which others changed the same record afterwards."""

    seq: int
    id: str
    type: str
    module: str
    at: datetime
    record_id: str | None
    payload: Mapping[str, Any]
    actor: Mapping[str, Any]
    outcome: Outcome | None = None
    reason: str | None = None
    since: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether something was different after it, that no other event of its own says better."""
        covered = TWICE.get(self.type)
        if covered is not None:
            return not set(self.payload.get("fields") or ()) <= set(covered)
        return self.type not in TELLS

    def row(self) -> dict[str, Any]:
        """As inverses of modules take it."""
        own = {"event_id": self.id, "seq": self.seq, "type": self.type, "record_id": self.record_id}
        return {**own, "payload": self.payload, "actor": self.actor, "since": self.since}


@dataclass(frozen=True)
class Bucket:
    """An iteration: agent and rationale are those of its first event, `first_at` is its earliest moment, `total` counts
    all its events; `events` are those that the filters let through, newest first. `proposals`: number by status."""

    mission_id: str
    iteration_id: str
    mission_title: str | None
    agent: str
    rationale: str
    first_at: datetime
    last_at: datetime
    total: int
    events: tuple[Done, ...]
    proposals: Mapping[str, int]

    def changes(self) -> Counter[str]:
        """How many events of each type changed something."""
        return Counter(event.type for event in self.events if event.changes)


@dataclass(frozen=True)
class Work:
    """Newest iteration first; `more`: there are further events than were asked for."""

    buckets: tuple[Bucket, ...]
    more: bool


class Timeline:
    """Thread-safe. Source: companion_ai_timeline, companion_ai_iteration. Errors of every call: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def read(
        self,
        *,
        mission_id: str | None = None,
        module: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = EVENTS,
    ) -> Work:
        """The latest `limit` (1 to 1,000) events, from `since` on and before `until`. Errors: Forbidden too."""
        permit("companion")
        params = {
            "p_mission_id": mission_id,
            "p_module": module,
            "p_since": since.isoformat() if since else None,
            "p_until": until.isoformat() if until else None,
            "p_limit": max(1, min(limit, MOST)),
        }
        answer = self._db.rpc("companion_ai_timeline", params, read=True, returns=dict)
        return Work(tuple(_bucket(row) for row in answer["buckets"]), bool(answer["more"]))

    def iteration(self, mission_id: str, iteration_id: str) -> tuple[Done, ...]:
        """Every event of one iteration, newest first."""
        params = {"p_mission_id": mission_id, "p_iteration_id": iteration_id}
        return tuple(_done(row) for row in self._db.rpc("companion_ai_iteration", params, read=True, returns=list))


def _bucket(row: Mapping[str, Any]) -> Bucket:
    return Bucket(
        mission_id=row["mission_id"],
        iteration_id=row["iteration_id"],
        mission_title=row["mission_title"],
        agent=row["agent"] or "An AI",
        rationale=row["rationale"] or "",
        first_at=datetime.fromisoformat(row["first_at"]),
        last_at=datetime.fromisoformat(row["last_at"]),
        total=int(row["total"]),
        events=tuple(_done(event) for event in row["events"]),
        proposals={str(status): int(number) for status, number in row["proposals"].items()},
    )


def _done(row: Mapping[str, Any]) -> Done:
    return Done(
        seq=int(row["seq"]),
        id=row["event_id"],
        type=row["type"],
        module=row["app_id"] or "",
        at=datetime.fromisoformat(row["ts"]),
        record_id=row["record_id"],
        payload=row["payload"],
        actor=row["actor"],
        outcome=row["outcome"],
        reason=row["reason"],
        since=tuple(row.get("since") or ()),
    )
