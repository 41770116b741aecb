"""The table of events: append through one SQL function, read newest first, check the chain, prune."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.db.client import Database
from core.events.actor import Actor, normalize_actor
from core.events.acts import Counts, counts_of
from core.events.spool import Record

APPEND_S = 10.0
VERIFY_S = 60.0
PAGE_LIMIT = 1000

OBSERVATION_DAYS = 90
OBSERVATION_MAX = 50_000
AUDIT_DAYS = 400


@dataclass(frozen=True)
class StoredEvent:
    """An event as the table holds it; `seq` is the order in which the database took it. Of what an AI did `find` says
    for whom (`on_behalf_of`) and who said yes (`approved_by`), by their names then."""

    seq: int
    id: str
    type: str
    event_class: str
    payload: Mapping[str, Any]
    timestamp: datetime
    app_id: str
    actor: Actor
    collection: str | None
    record_id: str | None
    user_id: str | None
    caused_by: str | None
    on_behalf_of: str | None = None
    approved_by: str | None = None


@dataclass(frozen=True)
class EventPage:
    """Events newest first; pass `next_before_seq` to go on, None at the end."""

    rows: tuple[StoredEvent, ...]
    next_before_seq: int | None


@dataclass(frozen=True)
class Chain:
    """Whether every hash follows from its row and the hash before it; else where the first break is."""

    ok: bool
    checked: int
    first_bad_seq: int | None
    reason: str | None
    next_seq: int | None = None  # of a slice: where the next one begins, None at the end
    events: int = 0  # of a slice: how many events there are in all


class EventStore:
    """Source: SQL functions companion_{append,query,count,prune}_events, companion_verify_slice, desk_acts and
    desk_activity_counts."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def append(self, rows: Sequence[Mapping[str, Any]]) -> int:
        """How many of these were new; an id that is there already is left as it is. Errors: DatabaseError."""
        answer = self._db.rpc(
            "companion_append_events",
            {"p_events": [dict(r) for r in rows]},
            read=False,
            returns=dict,
            timeout_s=APPEND_S,
        )
        return int(answer["inserted"])

    def send(self, records: Sequence[Record]) -> None:
        """The spool's way in."""
        self.append([record.body for record in records])

    def query(
        self,
        *,
        app_id: str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        record_id: str | None = None,
        actor_kind: str | None = None,
        limit: int = 100,
        before_seq: int | None = None,
    ) -> EventPage:
        """Newest first, every filter applied before the limit (1 to 1,000); from `since` on and before `until`."""
        answer = self._db.rpc(
            "companion_query_events",
            {
                "p_app_id": app_id,
                "p_type": type,
                "p_since": since.isoformat() if since else None,
                "p_until": until.isoformat() if until else None,
                "p_record_id": record_id,
                "p_actor_kind": actor_kind,
                "p_limit": max(1, min(limit, PAGE_LIMIT)),
                "p_before_seq": before_seq,
            },
            read=True,
            returns=dict,
        )
        return EventPage(tuple(_stored(row) for row in answer["rows"]), answer.get("next_before_seq"))

    def count_by_type(self, since: datetime | None = None, until: datetime | None = None) -> dict[str, int]:
        """How many events of each type, from `since` on and before `until`; counted in SQL, so no cap applies."""
        window = {"p_since": since.isoformat() if since else None, "p_until": until.isoformat() if until else None}
        answer = self._db.rpc("companion_count_events", window, read=True, returns=dict)
        return {str(name): int(n) for name, n in answer.items()}

    def find(
        self,
        *,
        about: str | None = None,
        app_id: str | None = None,
        type: str | None = None,
        types: Sequence[str] | None = None,
        without: Sequence[str] | None = None,
        or_ai: bool = False,
        event_class: str | None = None,
        by: str | None = None,
        principal: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 50,
        before_seq: int | None = None,
    ) -> EventPage:
        """As `query`, and `about`: what concerns one dialog, request or record, or follows from one event; `or_ai`: of
        `types` or done by an AI; `by`: user, api, system or ai.

        SQL: desk_acts.
        """
        params = {
            "p_about": about,
            "p_app_id": app_id,
            "p_type": type,
            "p_types": list(types) if types is not None else None,
            "p_without": list(without) if without is not None else None,
            "p_or_ai": or_ai,
            "p_class": event_class,
            "p_by": by,
            "p_principal": principal,
            "p_since": since.isoformat() if since else None,
            "p_until": until.isoformat() if until else None,
            "p_limit": max(1, min(limit, PAGE_LIMIT)),
            "p_before_seq": before_seq,
        }
        answer = self._db.rpc("desk_acts", params, read=True, returns=dict)
        return EventPage(tuple(_stored(row) for row in answer["rows"]), answer.get("next_before_seq"))

    def counts(
        self,
        *,
        about: str | None = None,
        principal: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Counts:
        """How many events of each kind, part and actor, counted in SQL; the actors whatever `principal` is."""
        params = {
            "p_about": about,
            "p_principal": principal,
            "p_since": since.isoformat() if since else None,
            "p_until": until.isoformat() if until else None,
        }
        return counts_of(self._db.rpc("desk_activity_counts", params, read=True, returns=dict))

    def verify(self, from_seq: int | None = None, *, limit: int | None = None) -> Chain:
        """Recompute the chain of hashes from that row on, else from the last checkpoint; with `limit` a slice of it."""
        params = {"p_from_seq": from_seq, "p_limit": limit}
        answer = self._db.rpc("companion_verify_slice", params, read=True, returns=dict, timeout_s=VERIFY_S)
        return Chain(
            bool(answer["ok"]),
            int(answer["checked"]),
            answer.get("first_bad_seq"),
            answer.get("reason"),
            answer.get("next_seq"),
            int(answer.get("events") or 0),
        )

    def prune(
        self,
        *,
        observation_days: int = OBSERVATION_DAYS,
        observation_max: int = OBSERVATION_MAX,
        audit_days: int = AUDIT_DAYS,
    ) -> int:
        """Delete what is too old, then observations beyond their number, oldest first; returns how many."""
        answer = self._db.rpc(
            "companion_prune_events",
            {
                "p_observation_days": observation_days,
                "p_observation_max": observation_max,
                "p_audit_days": audit_days,
            },
            read=False,
            returns=dict,
        )
        return int(answer["deleted"])


def _stored(row: Mapping[str, Any]) -> StoredEvent:
    return StoredEvent(
        seq=int(row["seq"]),
        id=row["event_id"],
        type=row["type"],
        event_class=row["class"],
        payload=row["payload"],
        timestamp=datetime.fromisoformat(row["ts"]),
        app_id=row["app_id"],
        actor=normalize_actor(row.get("actor")),
        collection=row.get("collection"),
        record_id=row.get("record_id"),
        user_id=row.get("user_id"),
        caused_by=row.get("caused_by"),
        on_behalf_of=row.get("on_behalf_of"),
        approved_by=row.get("approved_by"),
    )
