"""What a search gives back: hits, where the time went, and everything a what-if needs without a second question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from core.memory.notices import Notice
from core.memory.requests import SearchRequest
from core.memory.retrieval import Profile
from core.memory.score import Candidates


@dataclass(frozen=True)
class Hit:
    """One chunk of an answer; `weighted_score` is `cosine` + `lexical` + `boost`, all on the cosine's scale.

    `lexical` is 0 unless the profile weighs words. Dates are ISO text as the RPC returns them.
    """

    id: str
    source: str
    source_id: str | None
    text: str
    weighted_score: float
    cosine: float
    boost: float
    rank: int
    note_date: str | None = None
    sent_at: str | None = None
    direction: str | None = None
    dialog_key: str | None = None
    lexical: float = 0.0

    def as_row(self, *, explain: bool = False) -> dict[str, Any]:
        """The row of `match_client_memory_chunks` (spec/memory.md section 5); with `explain` also its parts."""
        row = {
            "id": self.id,
            "source": self.source,
            "text": self.text,
            "weighted_score": self.weighted_score,
            "note_date": self.note_date,
            "sent_at": self.sent_at,
            "direction": self.direction,
        }
        if explain:
            row |= {"cosine": self.cosine, "boost": self.boost, "rank": self.rank, "source_id": self.source_id}
            row |= {"lexical": self.lexical} if self.lexical else {}
        return row


@dataclass(frozen=True)
class Latency:
    """Milliseconds spent embedding the query, asking the database (round trip), and scoring here."""

    embed_ms: float = 0.0
    database_ms: float = 0.0
    score_ms: float = 0.0

    @property
    def total_ms(self) -> float:
        return self.embed_ms + self.database_ms + self.score_ms

    def as_json(self) -> dict[str, float]:
        parts = {"embed": self.embed_ms, "database": self.database_ms, "score": self.score_ms, "total": self.total_ms}
        return {name: round(value, 2) for name, value in parts.items()}


@dataclass(frozen=True)
class SearchResult:
    """The answer to one search, best first. `searchable` of `total` chunks carry the active model."""

    favorite_id: str
    dialog_key: str
    query: str
    hits: tuple[Hit, ...]
    model: str
    weights: Mapping[str, float]
    weights_version: int | None
    fallback: bool
    latency: Latency
    total: int
    searchable: int
    other_models: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = ()
    request_id: str | None = None
    profile: Profile | None = None

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """The body of `POST /memory/search`: a camelCase envelope round the RPC's own snake_case rows."""
        body: dict[str, Any] = {
            "favoriteId": self.favorite_id,
            "dialogKey": self.dialog_key,
            "query": self.query,
            "results": [hit.as_row(explain=explain) for hit in self.hits],
        }
        if self.request_id is not None:
            body["requestId"] = self.request_id
        if self.warnings:
            body["warnings"] = [{"field": w.field, "message": w.message} for w in self.warnings]
        if explain or self.fallback:
            body["fallback"] = self.fallback
        if explain:
            body |= {
                "model": self.model,
                "weightsVersion": self.weights_version,
                "sourceWeights": dict(self.weights),
                "latencyMs": self.latency.as_json(),
                "total": self.total,
                "searchable": self.searchable,
                "otherModels": dict(self.other_models),
            }
            if self.profile is not None and not self.profile.plain:
                body["profile"] = {"name": self.profile.name, **self.profile.as_json()}
        return body


@dataclass(frozen=True)
class Exploration:
    """One query over one dialog, held so that weights can change in numpy: no further question to the database.

    `candidates` holds the cosine of every searchable chunk, ordered by cosine descending, then id; texts are there for
    the best of each source only (`candidates.rows`). `lexical` ranks those same texts by the 128-dimensional fallback,
    with the same weights; it saw `lexical_compared` texts, not the whole dialog where that is larger.
    `excluded` counts rows left out by a filter: {"client_id": n, "compose_mode": n}. `profile` ranks (None: `weights`
    alone do), `active` is the one in force; `bm25` float64 (n,) is there once words were asked for.
    """

    request: SearchRequest
    query: str
    candidates: Candidates
    weights: Mapping[str, float]
    active_weights: Mapping[str, float]
    weights_version: int | None
    model: str
    fallback: bool
    total: int
    searchable: int
    other_models: Mapping[str, int]
    excluded: Mapping[str, int]
    lexical: tuple[Hit, ...]
    lexical_compared: int
    superseded: frozenset[str]
    latency: Latency
    as_of: datetime
    warnings: tuple[Notice, ...] = ()
    profile: Profile | None = None
    active: Profile | None = None
    bm25: np.ndarray | None = None


@dataclass(frozen=True)
class AcrossResult:
    """The best chunks of all dialogs, each with its `dialog_key`. `method` is exact or hnsw, over `scanned` rows."""

    query: str
    hits: tuple[Hit, ...]
    model: str
    weights: Mapping[str, float]
    weights_version: int | None
    method: str
    scanned: int
    latency: Latency
    as_of: datetime
    warnings: tuple[Notice, ...] = ()
