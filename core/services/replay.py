"""A search of the past, asked again: beside its record, or built again from usage where it left none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder
from core.errors import NotFound
from core.memory import profiled
from core.memory import search as conductor
from core.memory.dates import parse_moment
from core.memory.dialog_words import DialogWords
from core.memory.fallback import MODEL as LEXICAL_MODEL
from core.memory.fusion import rank_profile
from core.memory.hits import Exploration, Hit, Latency
from core.memory.messages import Message
from core.memory.notes import Note
from core.memory.notices import Notice
from core.memory.query import query_of
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.retrieval import Profile
from core.memory.sources import LIMIT_DEFAULT
from core.memory.text import is_blank
from core.retrievals.drift import Drift, Today, compare
from core.retrievals.record import Retrieval
from core.retrievals.store import RetrievalStore
from core.usage.lines import RequestLine
from core.usage.report import UsageReports

Difference = Literal["weights", "profile", "model", "fallback"]
DIFFERENCES: Mapping[Difference, str] = {
    "weights": "The active boosts are others than the recorded ones.",
    "profile": "The active profile ranks by other rules (unit, words, quotas or budget).",
    "model": "Another embedding model is active: cosines of then and today mean different things.",
    "fallback": "It was answered by words in common; today's answer is by meaning.",
}


@dataclass(frozen=True)
class Replayed:
    """Today's answer to the query of a record. `hits` are those of the active profile, `before` those that the recorded
    weights would give today (nothing for a search over all dialogs). Nothing of it is recorded."""

    at: datetime
    model: str
    profile: Profile
    hits: tuple[Hit, ...]
    before: tuple[Hit, ...]
    drift: tuple[Drift, ...]
    differs: tuple[Difference, ...]
    latency: Latency
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Reconstructed:
    """A request that left calls in the usage log and no record. `query` is built again from what stands in the memory
    of up to `at`; None with `why` where there is nothing to build it from."""

    request: RequestLine
    at: datetime
    query: str | None
    why: str = ""
    replayed: Replayed | None = None


@dataclass(frozen=True)
class _Asked:
    """What is asked again, of a record or of a request without one."""

    query: str
    dialog_key: str | None
    client_id: str | None
    compose_mode: str
    limit: int
    at: str


class ReplayService:
    """One per process, thread-safe. Asks embedder and database once a call, and records nothing."""

    def __init__(
        self,
        db: Database,
        embedder: Callable[[], Embedder],
        active: Callable[[], Profile],
        words: DialogWords,
        store: RetrievalStore,
        usage: UsageReports,
        clock: Clock,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._active = active
        self._words = words
        self._store = store
        self._usage = usage
        self._clock = clock

    def replay(self, record: Retrieval) -> Replayed:
        """The recorded query today, and what became of each chunk.

        Errors: NotFound where an erasure took the query, ProviderError, DatabaseError.
        """
        if record.query is None:
            raise NotFound("The words of this query were erased with a person that it had found.")
        asked = _Asked(
            query=record.query,
            dialog_key=record.dialog_key,
            client_id=record.client_id,
            compose_mode=record.compose_mode or "both",
            limit=record.asked_limit,
            at=record.at,
        )
        return self._ask(asked, recorded_profile(record), record)

    def reconstruct(self, request_id: str) -> Reconstructed | None:
        """A request known only by its calls; None where no call has its id.

        Errors: ProviderError, DatabaseError.
        """
        try:
            line = self._usage.request(str(UUID(request_id)))
        except ValueError:
            return None
        if line is None:
            return None
        at = min(call.at for call in line.calls)
        if line.dialog_key is None:
            return Reconstructed(line, at, None, "Its calls belong to no dialog.")
        parts = self._store.query_parts(line.dialog_key, at)
        query = query_of(_messages(parts["messages"]), _notes(parts["notes"]))
        if is_blank(query):
            return Reconstructed(line, at, None, "No message or note of up to that moment stands in this dialog.")
        asked = _Asked(query, line.dialog_key, None, "both", LIMIT_DEFAULT, at.isoformat())
        return Reconstructed(line, at, query, replayed=self._ask(asked, self._active(), None))

    def usage(self, request_id: str | None) -> RequestLine | None:
        """The logged calls of a request, None where it has none. Errors: DatabaseError."""
        try:
            return self._usage.request(str(UUID(request_id))) if request_id else None
        except ValueError:
            return None

    def _ask(self, asked: _Asked, recorded: Profile, record: Retrieval | None) -> Replayed:
        embedder, active = self._embedder(), replace(self._active(), limit=asked.limit)
        if asked.dialog_key is None:
            now, before, latency, warnings = self._over_all(embedder, asked, active)
        else:
            now, before, latency, warnings = self._in_dialog(embedder, asked, active, recorded)
        then = record.chunks if record else ()
        ids = list(dict.fromkeys([*(c.id for c in then), *(hit.id for hit in now.hits)]))
        places = self._store.whereabouts(ids)
        drift = compare(then, asked.dialog_key, asked.at, now, before, places, embedder.name)
        differs = _differs(record, recorded, active, embedder.name) if record else ()
        at = self._clock.now()
        return Replayed(at, embedder.name, active, now.hits, before.hits, drift, differs, latency, warnings)

    def _in_dialog(
        self, embedder: Embedder, asked: _Asked, active: Profile, recorded: Profile
    ) -> tuple[Today, Today, Latency, tuple[Notice, ...]]:
        assert asked.dialog_key is not None
        request = SearchRequest(
            dialog_key=asked.dialog_key,
            query=asked.query,
            client_id=asked.client_id,
            compose_mode=asked.compose_mode,
            limit=asked.limit,
        )
        weights = conductor.Weights(active.weights, active.version)
        found = conductor.explore(self._db, embedder, request, weights, weights, self._clock.now())
        # Words are fetched for whichever of the two weighs them.
        found = profiled.under(self._db, found, recorded if recorded.needs_texts else active, self._words)
        return _ranked(found, active), _ranked(found, recorded), found.latency, found.warnings

    def _over_all(
        self, embedder: Embedder, asked: _Asked, active: Profile
    ) -> tuple[Today, Today, Latency, tuple[Notice, ...]]:
        weights = conductor.Weights(active.weights if active.unit == "raw" else {}, active.version)
        request = AcrossRequest(asked.query, asked.limit)
        found = conductor.across(self._db, embedder, request, weights, self._clock.now())
        scores = {hit.id: hit.weighted_score for hit in found.hits}
        today = Today(found.hits, {hit.id: hit.rank for hit in found.hits}, scores)
        return today, Today((), {}, {}), found.latency, found.warnings


def recorded_profile(record: Retrieval) -> Profile:
    """The profile by which a record was ranked, with its own limit."""
    body = record.profile or {}
    return Profile(
        name=str(body.get("name", "recorded")),
        version=record.weights_version,
        weights=dict(record.weights),
        unit=body.get("unit", "raw"),
        fusion=float(body.get("fusion", 0.0)),
        limit=record.asked_limit,
        budget_chars=body.get("budget_chars"),
        quotas=dict(body.get("quotas") or {}),
    )


def _ranked(found: Exploration, profile: Profile) -> Today:
    ranking = rank_profile(found.candidates, found.bm25, profile)
    ids = found.candidates.ids
    return Today(
        hits=conductor.hits_of(ranking),
        ranks={ids[i]: place for place, i in enumerate(ranking.order, start=1)},
        scores={ids[i]: float(ranking.scores[i]) for i in ranking.order},
    )


def _differs(record: Retrieval, recorded: Profile, active: Profile, model: str) -> tuple[Difference, ...]:
    found: list[Difference] = []
    then, now = recorded.as_json(), active.as_json()
    if then["weights"] != now["weights"]:
        found.append("weights")
    if any(then[name] != now[name] for name in ("unit", "fusion", "budget_chars", "quotas")):
        found.append("profile")
    if record.fallback or record.model == LEXICAL_MODEL:
        found.append("fallback")
    elif record.model != model:
        found.append("model")
    return tuple(found)


def _messages(rows: Sequence[Mapping[str, Any]]) -> list[Message]:
    return [
        Message(row["source_id"] or "", row["text"], row["direction"], datetime.fromisoformat(row["sent_at"]))
        for row in rows
    ]


def _notes(rows: Sequence[Mapping[str, Any]]) -> list[Note]:
    """Notes as they came, the pieces of a long one joined again."""
    joined: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        joined.setdefault((row["source_id"], row["note_date"], row["created_at"]), []).append(row["text"])
    notes = []
    for (source_id, day, _), pieces in joined.items():
        moment = parse_moment(day)
        notes.append(Note(source_id or "", " ".join(pieces), day, moment.at.astimezone(UTC) if moment else None))
    return notes
