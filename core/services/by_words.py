"""Search by words in common, where embedder or database fail: over the request's own payload, else the stored texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from core.db.client import Database
from core.errors import DatabaseError, ProviderError
from core.memory import search as conductor
from core.memory.chunks import build_chunks
from core.memory.fallback import MODEL, Passage, lexical_candidates, lexical_notice, passage_of
from core.memory.fusion import rank_profile
from core.memory.hits import Exploration, SearchResult
from core.memory.payload import normalise
from core.memory.requests import SearchRequest
from core.memory.retrieval import Profile
from core.memory.search import clamp, passage_of_row
from core.memory.sources import LIMIT_MAX

Failure = ProviderError | DatabaseError
COLUMNS = "id,source,source_id,text,note_date,sent_at,direction,client_id"


def search(db: Database, request: SearchRequest, profile: Profile, failure: Failure, now: datetime) -> SearchResult:
    """What the profile takes by lexical cosine. Errors: the failure itself where there is no text to search."""
    found = explore(db, request, profile, profile, failure, now)
    return SearchResult(
        favorite_id=request.favorite_id or request.dialog_key,
        dialog_key=request.dialog_key,
        query=request.query,
        hits=found.lexical,
        model=MODEL,
        weights=dict(profile.weights),
        weights_version=profile.version,
        fallback=True,
        latency=found.latency,
        total=found.total,
        searchable=found.searchable,
        warnings=found.warnings,
        request_id=request.request_id,
        profile=profile,
    )


def explore(
    db: Database, request: SearchRequest, profile: Profile, active: Profile, failure: Failure, now: datetime
) -> Exploration:
    """The same for a what-if. Words are what is compared already, so the profile's fusion does not count."""
    watch = conductor.Stopwatch()
    with watch.part("database"):
        passages = _corpus(db, request, failure)
    with watch.part("score"):
        candidates = lexical_candidates(request.query, passages)
        limited = replace(profile, limit=clamp(profile.limit, LIMIT_MAX))
        hits = conductor.hits_of(rank_profile(candidates, None, limited))
    return Exploration(
        request=request,
        query=request.query,
        candidates=candidates,
        weights=dict(profile.weights),
        active_weights=dict(active.weights),
        weights_version=profile.version,
        model=MODEL,
        fallback=True,
        total=len(passages),
        searchable=len(passages),
        other_models={},
        excluded={},
        lexical=hits,
        lexical_compared=len(passages),
        superseded=frozenset(),
        latency=watch.latency(),
        as_of=now,
        warnings=(lexical_notice(failure.what),),
        profile=profile,
        active=active,
    )


def _corpus(db: Database, request: SearchRequest, failure: Failure) -> list[Passage]:
    """The payload's chunks, else the dialog's texts if the database answers, else the first failure."""
    if request.payload is not None:
        chunks, _ = build_chunks(normalise(request.payload))
        if chunks:
            return [passage_of(chunk) for chunk in chunks]
    if isinstance(failure, DatabaseError):
        raise failure
    return list(_stored(db, request))


def _stored(db: Database, request: SearchRequest) -> Iterator[Passage]:
    for page in db.pages("client_memory_chunks", COLUMNS, where={"dialog_key": request.dialog_key}):
        for row in page:
            if request.client_id is None or row["client_id"] in (None, request.client_id):
                yield passage_of_row(row)
