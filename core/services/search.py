"""Search, for pages, API and command line: the active weights, the search itself, the fallback, the record of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256

from core.access.roles import require
from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder
from core.errors import DatabaseError, InputError, ProviderError
from core.events.actor import LOCAL_OPERATOR, current_actor
from core.events.emitter import Events
from core.memory import search as conductor
from core.memory.chunks import build_chunks
from core.memory.fallback import MODEL as LEXICAL_MODEL
from core.memory.fallback import Passage, lexical_candidates, lexical_hits, lexical_notice, passage_of
from core.memory.hits import AcrossResult, Exploration, Hit, Latency, SearchResult
from core.memory.payload import normalise
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.search import Weights, clamp, passage_of_row
from core.memory.sources import DEFAULT_WEIGHTS, LIMIT_MAX, WEIGHTS_VERSION
from core.memory.text import is_blank

Failure = ProviderError | DatabaseError
COLUMNS = "id,source,source_id,text,note_date,sent_at,direction,client_id"


class SearchService:
    """One per process, thread-safe. `embedder` is asked at each search: which one is active can change."""

    def __init__(self, db: Database, embedder: Callable[[], Embedder], events: Events, clock: Clock) -> None:
        self._db = db
        self._embedder = embedder
        self._events = events
        self._clock = clock

    def active_weights(self) -> Weights:
        """The boosts in force; version 1 are the spec's."""
        return Weights(DEFAULT_WEIGHTS, WEIGHTS_VERSION)

    def search(self, request: SearchRequest) -> SearchResult:
        """The best rows of one dialog; with `allow_fallback` by words where embedder or database fail.

        Errors: InputError for an empty query, ProviderError, DatabaseError, Forbidden.
        """
        _check(request.query)
        weights = self._weights(request)
        try:
            result = conductor.search(self._db, self._embedder(), request, weights)
        except (ProviderError, DatabaseError) as failure:
            if not request.allow_fallback:
                raise
            result = self._lexical(request, weights, failure)
            self._emit("SearchFallbackUsed", request.dialog_key, reason=failure.code)
        self._record(request, result.hits, result.latency, result.model, result.weights_version)
        return result

    def explore(self, request: SearchRequest) -> Exploration:
        """Everything the Search page needs for one query, in one question to the database. Errors: as `search`."""
        _check(request.query)
        weights, active = self._weights(request), self.active_weights()
        now = self._clock.now()
        try:
            found = conductor.explore(self._db, self._embedder(), request, weights, active, now)
        except (ProviderError, DatabaseError) as failure:
            if not request.allow_fallback:
                raise
            found = self._lexical_exploration(request, weights, active, failure)
            self._emit("SearchFallbackUsed", request.dialog_key, reason=failure.code)
        self._record(request, conductor.best_hits(found), found.latency, found.model, found.weights_version)
        return found

    def across(self, request: AcrossRequest) -> AcrossResult:
        """The best rows of all dialogs. Errors: as `search`; there is no fallback over all dialogs."""
        _check(request.query)
        result = conductor.across(self._db, self._embedder(), request, self._weights(request), self._clock.now())
        self._record(request, result.hits, result.latency, result.model, result.weights_version)
        return result

    def _weights(self, request: SearchRequest | AcrossRequest) -> Weights:
        return self.active_weights() if request.weights is None else Weights(dict(request.weights), None)

    def _lexical(
        self, request: SearchRequest, weights: Weights, failure: ProviderError | DatabaseError
    ) -> SearchResult:
        watch = conductor.Stopwatch()
        with watch.part("database"):
            passages = self._corpus(request, failure)
        with watch.part("score"):
            hits = lexical_hits(request.query, passages, weights.boosts, clamp(request.limit, LIMIT_MAX))
        return SearchResult(
            favorite_id=request.favorite_id or request.dialog_key,
            dialog_key=request.dialog_key,
            query=request.query,
            hits=hits,
            model=LEXICAL_MODEL,
            weights=dict(weights.boosts),
            weights_version=weights.version,
            fallback=True,
            latency=watch.latency(),
            total=len(passages),
            searchable=len(passages),
            warnings=(lexical_notice(failure.what),),
            request_id=request.request_id,
        )

    def _lexical_exploration(
        self, request: SearchRequest, weights: Weights, active: Weights, failure: Failure
    ) -> Exploration:
        watch = conductor.Stopwatch()
        with watch.part("database"):
            passages = self._corpus(request, failure)
        with watch.part("score"):
            candidates = lexical_candidates(request.query, passages)
            hits = lexical_hits(request.query, passages, weights.boosts, clamp(request.limit, LIMIT_MAX))
        return Exploration(
            request=request,
            query=request.query,
            candidates=candidates,
            weights=dict(weights.boosts),
            active_weights=dict(active.boosts),
            weights_version=weights.version,
            model=LEXICAL_MODEL,
            fallback=True,
            total=len(passages),
            searchable=len(passages),
            other_models={},
            excluded={},
            lexical=hits,
            lexical_compared=len(passages),
            superseded=frozenset(),
            latency=watch.latency(),
            as_of=self._clock.now(),
            warnings=(lexical_notice(failure.what),),
        )

    def _corpus(self, request: SearchRequest, failure: Failure) -> list[Passage]:
        """The payload's chunks, else the dialog's texts if the database answers, else the first failure."""
        if request.payload is not None:
            chunks, _ = build_chunks(normalise(request.payload))
            if chunks:
                return [passage_of(chunk) for chunk in chunks]
        if isinstance(failure, DatabaseError):
            raise failure
        return list(self._stored(request))

    def _stored(self, request: SearchRequest) -> Iterator[Passage]:
        for page in self._db.pages("client_memory_chunks", COLUMNS, where={"dialog_key": request.dialog_key}):
            for row in page:
                if request.client_id is None or row["client_id"] in (None, request.client_id):
                    yield passage_of_row(row)

    def _record(
        self,
        request: SearchRequest | AcrossRequest,
        hits: tuple[Hit, ...],
        latency: Latency,
        model: str,
        version: int | None,
    ) -> None:
        one = request if isinstance(request, SearchRequest) else None
        dialog_key = one.dialog_key if one else None
        query_hash = sha256(request.query.encode("utf-8", "surrogatepass")).hexdigest()
        if not hits:
            self._emit("SearchEmpty", dialog_key, query_hash=query_hash)
        self._emit(
            "SearchPerformed",
            dialog_key,
            query_hash=query_hash,
            query_len=len(request.query),
            limit=request.limit,
            compose_mode=one.compose_mode if one else None,
            results=len(hits),
            top_score=round(hits[0].weighted_score, 4) if hits else None,
            by_source=dict(Counter(hit.source for hit in hits)),
            latency_ms=round(latency.total_ms, 2),
            embed_ms=round(latency.embed_ms, 2),
            fallback=model == LEXICAL_MODEL,
            model=model,
            scope="dialog" if one else "all",
            request_id=one.request_id if one else None,
            weights_version=version,
        )

    def _emit(self, event: str, dialog_key: str | None, **payload: object) -> None:
        self._events.emit(event, {"dialog_key": dialog_key, **payload}, record_id=dialog_key)


def _check(query: str) -> None:
    require(current_actor() or LOCAL_OPERATOR, "search")
    if is_blank(query):
        raise InputError("The query is empty.", hint="Write a few words.", field="query")
