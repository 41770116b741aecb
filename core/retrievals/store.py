"""Reads of the retrieval record, and the reports of wrong context. Every list is paged and totally ordered, in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from core.db.client import Database
from core.events.event import Event
from core.retrievals.record import Retrieval, WrongContext, retrieval_of, wrong_of

Outcome = Literal["empty", "fallback", "reported"]


@dataclass(frozen=True)
class RetrievalPage:
    """Newest first, without their chunks; `total` of all pages."""

    rows: tuple[Retrieval, ...]
    total: int


@dataclass(frozen=True)
class Totals:
    """How much is recorded; times are ISO text or None. `reported` counts open reports, `days` is the retention."""

    records: int
    empty: int
    fallback: int
    requests: int
    first_at: str | None
    last_at: str | None
    tokens: int
    reported: int
    days: int


@dataclass(frozen=True)
class NeverRetrieved:
    """Chunks ({id, source, text, ..}) that none of `records` searches since `first_at` returned, of `chunks` in all."""

    rows: tuple[Mapping[str, Any], ...]
    total: int
    by_source: Mapping[str, int]
    chunks: int
    records: int
    first_at: str | None


@dataclass(frozen=True)
class WrongPage:
    """Newest first; `by_reason` counts those that stand."""

    rows: tuple[WrongContext, ...]
    total: int
    by_reason: Mapping[str, int]


@dataclass(frozen=True)
class Whereabouts:
    """`stored`: {id: {dialog_key, text, model, created_at, updated_at}}; `away`: {id: {kind, reason, at}}."""

    stored: Mapping[str, Mapping[str, Any]]
    away: Mapping[str, Mapping[str, Any]]


class RetrievalStore:
    """Source: supabase/migrations/20261202010100_create_retrieval_reads.sql. Errors of all: DatabaseError.

    `first` is called before a read of records: it writes those that wait.
    """

    def __init__(self, db: Database, first: Callable[[], object] = bool) -> None:
        self._db = db
        self._first = first

    def list(
        self,
        *,
        dialog_key: str | None = None,
        request_id: str | None = None,
        chunk_id: str | None = None,
        outcome: Outcome | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 25,
        offset: int = 0,
    ) -> RetrievalPage:
        """Records, newest first; with `chunk_id` those that returned it, each with `chunk_rank`."""
        params = {
            "p_dialog_key": dialog_key,
            "p_request_id": request_id,
            "p_chunk_id": chunk_id,
            "p_outcome": outcome,
            "p_since": since.isoformat() if since else None,
            "p_until": until.isoformat() if until else None,
            "p_limit": limit,
            "p_offset": offset,
        }
        self._first()
        answer = self._db.rpc("desk_retrieval_list", params, read=True, returns=dict)
        return RetrievalPage(tuple(map(retrieval_of, answer["rows"])), int(answer["total"]))

    def get(self, id: str) -> Retrieval | None:
        """One record in full; None for an id that is none, or that no record has."""
        try:
            UUID(id)
        except ValueError:
            return None
        self._first()
        answer: object = self._db.rpc("desk_retrieval", {"p_id": id}, read=True)
        return _whole(answer) if isinstance(answer, dict) else None

    def of_request(self, request_id: str, *, limit: int = 20) -> RetrievalPage:
        """The records of one request in full, newest first."""
        params = {"p_request_id": request_id, "p_limit": limit}
        self._first()
        answer = self._db.rpc("desk_request_retrievals", params, read=True, returns=dict)
        return RetrievalPage(tuple(map(_whole, answer["rows"])), int(answer["total"]))

    def totals(self, dialog_key: str | None = None) -> Totals:
        self._first()
        return Totals(**self._db.rpc("desk_retrieval_totals", {"p_dialog_key": dialog_key}, read=True, returns=dict))

    def never(self, dialog_key: str, *, limit: int = 25, offset: int = 0) -> NeverRetrieved:
        """Chunks of a dialog that no recorded search returned, newest first."""
        params = {"p_dialog_key": dialog_key, "p_limit": limit, "p_offset": offset}
        self._first()
        answer = self._db.rpc("desk_never_retrieved", params, read=True, returns=dict)
        return NeverRetrieved(**{**answer, "rows": tuple(answer["rows"])})

    def wrong(
        self, *, dialog_key: str | None = None, standing: bool | None = None, limit: int = 25, offset: int = 0
    ) -> WrongPage:
        """Reports of wrong context; `standing`: only those not withdrawn, or only those withdrawn."""
        params = {"p_dialog_key": dialog_key, "p_open": standing, "p_limit": limit, "p_offset": offset}
        answer = self._db.rpc("desk_wrong_contexts", params, read=True, returns=dict)
        return WrongPage(tuple(map(wrong_of, answer["rows"])), int(answer["total"]), dict(answer["by_reason"]))

    def whereabouts(self, ids: Sequence[str]) -> Whereabouts:
        """Where chunks stand today; one that is in neither part is gone for good."""
        answer = self._db.rpc("desk_chunk_whereabouts", {"p_ids": [*ids]}, read=True, returns=dict)
        return Whereabouts(*({row["id"]: row for row in answer[part]} for part in ("stored", "away")))

    def query_parts(self, dialog_key: str, at: datetime) -> Mapping[str, Any]:
        """{messages, notes} that stood in a dialog at a moment, each in order of time."""
        params = {"p_dialog_key": dialog_key, "p_at": at.isoformat()}
        return self._db.rpc("desk_query_parts", params, read=True, returns=dict)

    def report(self, retrieval: str, rank: int, reason: str, event: Event) -> Mapping[str, Any]:
        """{outcome: done, known or missing; id}, with the event in the same transaction."""
        params = {"p_retrieval": retrieval, "p_rank": rank, "p_reason": reason, "p_event": event.row()}
        return self._db.rpc("desk_report_wrong_context", params, read=False, returns=dict)

    def withdraw(self, report_id: str, event: Event) -> Mapping[str, Any]:
        """{outcome: done, known or missing}."""
        params = {"p_id": report_id, "p_event": event.row()}
        return self._db.rpc("desk_withdraw_wrong_context", params, read=False, returns=dict)

    def keep_days(self, days: int, event: Event) -> Mapping[str, Any]:
        """Set the retention: {days, before_days}."""
        params = {"p_days": days, "p_event": event.row()}
        return self._db.rpc("desk_set_retrieval_retention", params, read=False, returns=dict)

    def prune(self, batch: int) -> int:
        """Delete one batch of records that are older than the retention; how many."""
        answer = self._db.rpc("desk_prune_retrievals", {"p_batch": batch}, read=False, returns=dict, timeout_s=35.0)
        return int(answer["deleted"])


def _whole(answer: Mapping[str, Any]) -> Retrieval:
    return retrieval_of(answer["record"], answer["chunks"], answer["reports"])
