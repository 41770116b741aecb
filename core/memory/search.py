"""The conductor of a search: embed the query, ask the database once, hand back hits and where the time went.

`search` is for a caller who wants the best rows; `explore` fetches the cosine of every chunk, so that weights can
then change in numpy without another question. Only rows of the embedder's own model are compared. A hot path.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from core.db.client import Database
from core.embedding.provider import Embedder, to_pgvector
from core.memory.fallback import Passage, lexical_hits
from core.memory.fusion import Fused, rank_profile
from core.memory.hits import AcrossResult, Exploration, Hit, Latency, SearchResult
from core.memory.notices import Notice
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.retrieval import Profile
from core.memory.score import Candidates, ChunkRow
from core.memory.sources import LIMIT_MAX

__all__ = ["AcrossRequest", "AcrossResult", "Exploration", "Hit", "Latency", "SearchRequest", "SearchResult", "Weights"]

TEXTS_PER_SOURCE = 50
ACROSS_MAX = 50


@dataclass(frozen=True)
class Weights:
    """Boosts by source, and the version of the profile they belong to (None: given with the request)."""

    boosts: Mapping[str, float]
    version: int | None


def search(db: Database, embedder: Embedder, request: SearchRequest, weights: Weights) -> SearchResult:
    """The best rows of one dialog by cosine + boost, ties by id. SQL: desk_search, once.

    Errors: ProviderError from the embedder, DatabaseError from the database.
    """
    watch = Stopwatch()
    with watch.part("embed"):
        vector = to_pgvector(embedder.embed_query(request.query))
    params = {
        "p_dialog_key": request.dialog_key,
        "p_query": vector,
        "p_model": embedder.name,
        "p_limit": clamp(request.limit, LIMIT_MAX),
        "p_weights": dict(weights.boosts),
        "p_client_id": request.client_id,
        "p_compose_mode": compose_filter(request.compose_mode),
    }
    with watch.part("database"):
        answer = db.rpc("desk_search", params, read=True, returns=dict)
    total, searchable = int(answer["total"]), int(answer["searchable"])
    other_models = dict(answer["other_models"] or {})
    return SearchResult(
        favorite_id=request.favorite_id or request.dialog_key,
        dialog_key=request.dialog_key,
        query=request.query,
        hits=_hits(answer["rows"]),
        model=embedder.name,
        weights=dict(weights.boosts),
        weights_version=weights.version,
        fallback=False,
        latency=watch.latency(),
        total=total,
        searchable=searchable,
        other_models=other_models,
        warnings=model_notices(other_models),
        request_id=request.request_id,
    )


def explore(
    db: Database, embedder: Embedder, request: SearchRequest, weights: Weights, active: Weights, now: datetime
) -> Exploration:
    """Every searchable chunk's cosine, the texts of the best of each source, and the same texts by words.

    SQL: desk_candidates, once. Errors: as `search`.
    """
    watch = Stopwatch()
    with watch.part("embed"):
        vector = to_pgvector(embedder.embed_query(request.query))
    params = {
        "p_dialog_key": request.dialog_key,
        "p_query": vector,
        "p_model": embedder.name,
        "p_client_id": request.client_id,
        "p_compose_mode": compose_filter(request.compose_mode),
        "p_texts": TEXTS_PER_SOURCE,
    }
    with watch.part("database"):
        answer = db.rpc("desk_candidates", params, read=True, returns=dict)
    with watch.part("score"):
        candidates = candidates_of(answer)
        passages = [passage_of_row(row) for row in answer["rows"]]
        lexical = lexical_hits(request.query, passages, weights.boosts, clamp(request.limit, LIMIT_MAX))
    other_models = dict(answer["other_models"] or {})
    return Exploration(
        request=request,
        query=request.query,
        candidates=candidates,
        weights=dict(weights.boosts),
        active_weights=dict(active.boosts),
        weights_version=weights.version,
        model=embedder.name,
        fallback=False,
        total=int(answer["total"]),
        searchable=int(answer["searchable"]),
        other_models=other_models,
        excluded=dict(answer["excluded"] or {}),
        lexical=lexical,
        lexical_compared=len(passages),
        superseded=frozenset(row["id"] for row in answer["rows"] if row.get("superseded")),
        latency=watch.latency(),
        as_of=now,
        warnings=model_notices(other_models),
    )


def across(db: Database, embedder: Embedder, request: AcrossRequest, weights: Weights, now: datetime) -> AcrossResult:
    """The best rows of all dialogs. SQL: desk_match_across, once. Errors: as `search`."""
    watch = Stopwatch()
    with watch.part("embed"):
        vector = to_pgvector(embedder.embed_query(request.query))
    params = {
        "p_query": vector,
        "p_model": embedder.name,
        "p_weights": dict(weights.boosts),
        "p_limit": clamp(request.limit, ACROSS_MAX),
        "p_exclude_dialog": request.exclude_dialog,
    }
    with watch.part("database"):
        answer = db.rpc("desk_match_across", params, read=True, returns=dict)
    return AcrossResult(
        query=request.query,
        hits=_hits(answer["rows"]),
        model=embedder.name,
        weights=dict(weights.boosts),
        weights_version=weights.version,
        method=answer["method"],
        scanned=int(answer["scanned"] or 0),
        latency=watch.latency(),
        as_of=now,
    )


def best_hits(found: Exploration) -> tuple[Hit, ...]:
    """The rows that `search` would have returned for the same request and weights: ranked here, not asked for."""
    limit = clamp(found.request.limit, LIMIT_MAX)
    profile = replace(found.profile or Profile(weights=found.weights), limit=limit)
    return hits_of(rank_profile(found.candidates, found.bm25, profile))


def hits_of(ranking: Fused) -> tuple[Hit, ...]:
    """What a ranking takes, as hits; a chunk without its text (deleted meanwhile) is left out."""
    candidates = ranking.candidates
    hits: list[Hit] = []
    for index in ranking.taken:
        row = candidates.rows.get(candidates.ids[index])
        if row is None:
            continue
        hits.append(
            Hit(
                id=row.id,
                source=row.source,
                source_id=row.source_id,
                text=row.text,
                weighted_score=float(ranking.scores[index]),
                cosine=float(candidates.cosines[index]),
                boost=float(ranking.boosts[index]),
                lexical=float(ranking.lexical[index]),
                rank=len(hits) + 1,
                note_date=row.note_date,
                sent_at=row.sent_at,
                direction=row.direction,
            )
        )
    return tuple(hits)


def candidates_of(answer: Mapping[str, Any]) -> Candidates:
    """The arrays of `desk_candidates` as what `score` and `whatif` work on."""
    rows = {row["id"]: chunk_row(row) for row in answer["rows"]}
    return Candidates.of(answer["ids"], answer["sources"], answer["cosines"], rows)


def clamp(limit: int, most: int) -> int:
    return max(1, min(limit, most))


def compose_filter(mode: str) -> str:
    """A search for both modes reads as one for replies: spec/memory.md section 5."""
    return "reply" if mode == "both" else mode


def model_notices(other_models: Mapping[str, int]) -> tuple[Notice, ...]:
    count = sum(other_models.values())
    if not count:
        return ()
    names = ", ".join(sorted(other_models))
    what = "1 chunk is" if count == 1 else f"{count} chunks are"
    return (Notice("embedding_model", f"{what} not searchable until re-embedded: embedded with {names}."),)


def chunk_row(row: Mapping[str, Any]) -> ChunkRow:
    return ChunkRow(**{name: row[name] for name in ChunkRow.__dataclass_fields__ if name in row})


def passage_of_row(row: Mapping[str, Any]) -> Passage:
    names = ("id", "source", "source_id", "text", "note_date", "sent_at", "direction")
    return Passage(**{name: row.get(name) for name in names})  # type: ignore[arg-type]


def _hits(rows: list[Mapping[str, Any]]) -> tuple[Hit, ...]:
    names = Hit.__dataclass_fields__
    return tuple(
        Hit(**{name: row[name] for name in names if name in row}, rank=rank) for rank, row in enumerate(rows, start=1)
    )


class Stopwatch:
    """Milliseconds of the named parts of one search."""

    def __init__(self) -> None:
        self._ms: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._ms[name] = self._ms.get(name, 0.0) + (time.perf_counter() - started) * 1000

    def latency(self) -> Latency:
        return Latency(self._ms.get("embed", 0.0), self._ms.get("database", 0.0), self._ms.get("score", 0.0))
