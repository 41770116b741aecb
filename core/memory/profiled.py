"""A search under a profile that the database's own ranking does not know: cosines from SQL, everything else here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.db.client import Database
from core.embedding.provider import Embedder
from core.errors import DatabaseError
from core.memory import search as conductor
from core.memory.dialog_words import DialogWords
from core.memory.fusion import rank_profile
from core.memory.hits import Exploration, SearchResult
from core.memory.notices import Notice
from core.memory.requests import SearchRequest
from core.memory.retrieval import Profile
from core.memory.sources import LIMIT_MAX

LEADING = 4 * LIMIT_MAX  # of each of two orders, so that a slider finds texts below the line too


def search(
    db: Database, embedder: Embedder, request: SearchRequest, profile: Profile, words: DialogWords, now: datetime
) -> SearchResult:
    """The chunks that the profile takes, best first. Errors: as `conductor.search`; never because of the texts."""
    weights = conductor.Weights(profile.weights, profile.version)
    found = under(db, conductor.explore(db, embedder, request, weights, weights, now), profile, words)
    return SearchResult(
        favorite_id=request.favorite_id or request.dialog_key,
        dialog_key=request.dialog_key,
        query=request.query,
        hits=conductor.best_hits(found),
        model=found.model,
        weights=dict(profile.weights),
        weights_version=profile.version,
        fallback=False,
        latency=found.latency,
        total=found.total,
        searchable=found.searchable,
        other_models=found.other_models,
        warnings=found.warnings,
        request_id=request.request_id,
        profile=profile,
    )


def under(db: Database, found: Exploration, profile: Profile, words: DialogWords) -> Exploration:
    """The exploration ranked by a profile, with BM25 where it weighs words; where that fails, without and a warning."""
    found = replace(found, profile=profile)
    if not profile.needs_texts or found.fallback:
        return found
    try:
        return with_words(db, found, words)
    except DatabaseError as failure:
        notice = Notice("fusion", f"Ranked without the words: the texts could not be read. {failure.what}")
        return replace(found, warnings=(*found.warnings, notice))


def with_words(db: Database, found: Exploration, words: DialogWords) -> Exploration:
    """The exploration with the BM25 of every candidate, and the texts of those that it brings to the front.

    Errors: DatabaseError.
    """
    if found.bm25 is not None or found.fallback or not len(found.candidates):
        return found
    watch = conductor.Stopwatch()
    candidates = found.candidates
    with watch.part("database"):
        bm25 = words.scores(found.request.dialog_key, found.query, candidates.ids)
        profile = found.profile if found.profile and found.profile.needs_texts else Profile(fusion=1.0)
        fused = rank_profile(candidates, bm25, replace(profile, budget_chars=None, quotas={}, limit=LIMIT_MAX))
        leading = [*fused.order[:LEADING], *(-bm25).argsort(kind="stable")[:LEADING]]
        missing = [i for i in dict.fromkeys(candidates.ids[int(i)] for i in leading) if i not in candidates.rows]
        rows = dict(candidates.rows) | _rows(db, missing)
    spent = watch.latency().database_ms
    return replace(
        found,
        candidates=replace(candidates, rows=rows),
        bm25=bm25,
        latency=replace(found.latency, database_ms=found.latency.database_ms + spent),
    )


def _rows(db: Database, ids: Sequence[str]) -> dict[str, conductor.ChunkRow]:
    if not ids:
        return {}
    answer = db.rpc("desk_chunks_by_id", {"p_ids": [*ids]}, read=True, returns=list)
    return {row["id"]: conductor.chunk_row(row) for row in answer}
