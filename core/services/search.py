"""Search, for pages, API and command line: the active weights, the search itself, the fallback, the record of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TypeVar

from core.access.roles import permit
from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder
from core.errors import DatabaseError, InputError, ProviderError
from core.events.emitter import Events
from core.memory import profiled
from core.memory import search as conductor
from core.memory.dialog_words import DialogWords
from core.memory.fallback import MODEL as LEXICAL_MODEL
from core.memory.hits import AcrossResult, Exploration, Hit, Latency, SearchResult
from core.memory.notices import Notice
from core.memory.requests import AcrossRequest, SearchRequest
from core.memory.retrieval import SEED, Profile
from core.memory.search import Weights
from core.memory.text import is_blank
from core.retrievals.recorder import Recorder
from core.services import by_words
from core.tuning.profiles import Profiles

Found = TypeVar("Found", SearchResult, Exploration, AcrossResult)
_NO_SD_ACROSS = "Over all dialogs the cosine alone counts: the active boosts are in deviations of one dialog's scores."


class SearchService:
    """One per process, thread-safe. `embedder` is asked at each search: which one is active can change. `renewed` asks
    the database for it, where the first one found nothing."""

    def __init__(
        self,
        db: Database,
        embedder: Callable[[], Embedder],
        events: Events,
        clock: Clock,
        profiles: Profiles | None = None,
        recorder: Recorder | None = None,
        renewed: Callable[[], Embedder] | None = None,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._events = events
        self._clock = clock
        self._profiles = profiles or Profiles(db)
        self._recorder = recorder
        self._renewed = renewed
        self.words = DialogWords(db)

    def active_profile(self) -> Profile:
        """The profile in force; the seed's while the database cannot say, when no search of it succeeds either."""
        try:
            return self._profiles.active()
        except DatabaseError:
            return SEED

    def active_weights(self) -> Weights:
        """The boosts in force, in the unit of their profile; version 1 are the spec's."""
        profile = self.active_profile()
        return Weights(profile.weights, profile.version)

    def search(self, request: SearchRequest) -> SearchResult:
        """The best rows of one dialog; with `allow_fallback` by words where embedder or database fail.

        Errors: InputError for an empty query, ProviderError, DatabaseError, Forbidden.
        """
        _check(request.query)
        request, profile = self._settle(request)
        try:
            result = self._asked(lambda embedder: self._ranked(embedder, request, profile), lambda found: found.hits)
        except (ProviderError, DatabaseError) as failure:
            if not request.allow_fallback:
                raise
            result = by_words.search(self._db, request, profile, failure, self._clock.now())
            self._emit("SearchFallbackUsed", request.dialog_key, reason=failure.code)
        self._record(request, result.hits, result.latency, result.model, result.weights_version)
        return self._kept(request, result, result.hits)

    def explore(self, request: SearchRequest) -> Exploration:
        """Everything the Search page needs for one query, in one question to the database. Errors: as `search`."""
        _check(request.query)
        active = self.active_profile()
        request, profile = self._settle(request, active)
        weights, in_force = Weights(profile.weights, profile.version), Weights(active.weights, active.version)
        now = self._clock.now()
        try:
            found = self._asked(
                lambda embedder: conductor.explore(self._db, embedder, request, weights, in_force, now),
                lambda found: found.candidates.ids,
            )
            found = profiled.under(self._db, replace(found, active=active), profile, self.words)
        except (ProviderError, DatabaseError) as failure:
            if not request.allow_fallback:
                raise
            found = by_words.explore(self._db, request, profile, active, failure, now)
            self._emit("SearchFallbackUsed", request.dialog_key, reason=failure.code)
        hits = conductor.best_hits(found)
        self._record(request, hits, found.latency, found.model, found.weights_version)
        return self._kept(request, found, hits)

    def across(self, request: AcrossRequest) -> AcrossResult:
        """The best rows of all dialogs. Errors: as `search`; there is no fallback over all dialogs."""
        _check(request.query)
        weights, warnings = self._weights_across(request)
        result = self._asked(
            lambda embedder: conductor.across(self._db, embedder, request, weights, self._clock.now()),
            lambda found: found.hits,
        )
        result = replace(result, warnings=(*result.warnings, *warnings))
        self._record(request, result.hits, result.latency, result.model, result.weights_version)
        return self._kept(request, result, result.hits)

    def with_words(self, found: Exploration) -> Exploration:
        """The exploration with BM25, for a slider that was moved to weigh it. Errors: DatabaseError."""
        return profiled.with_words(self._db, found, self.words)

    def _asked(self, ask: Callable[[Embedder], Found], rows: Callable[[Found], Sequence[object]]) -> Found:
        """Ask; once more where nothing was found and the embedder has another name by now: a switch of the recipe, made
        by another process or while this search was under way, renames every row at once."""
        embedder = self._embedder()
        found = ask(embedder)
        if rows(found) or self._renewed is None:
            return found
        now = self._renewed()
        return found if now.name == embedder.name else ask(now)

    def _ranked(self, embedder: Embedder, request: SearchRequest, profile: Profile) -> SearchResult:
        if profile.plain:
            return conductor.search(self._db, embedder, request, Weights(profile.weights, profile.version))
        return profiled.search(self._db, embedder, request, profile, self.words, self._clock.now())

    def _settle(self, request: SearchRequest, active: Profile | None = None) -> tuple[SearchRequest, Profile]:
        """The request with its limit, and the profile that ranks it: the caller's own boosts replace the active one."""
        active = active or self.active_profile()
        if not request.limit_given:
            request = replace(request, limit=active.limit)
        given = request.weights
        return request, replace(active if given is None else active.with_weights(given), limit=request.limit)

    def _weights_across(self, request: AcrossRequest) -> tuple[Weights, tuple[Notice, ...]]:
        """Boosts over all dialogs are raw: words, quotas and a unit of one query's own spread do not reach that far."""
        if request.weights is not None:
            return Weights(dict(request.weights), None), ()
        active = self.active_profile()
        if active.plain:
            return Weights(active.weights, active.version), ()
        kept = active.unit == "raw"
        what = "Over all dialogs only the boosts of the active profile count." if kept else _NO_SD_ACROSS
        return Weights(active.weights if kept else {}, active.version), (Notice("weights", what),)

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

    def _kept(self, request: SearchRequest | AcrossRequest, found: Found, hits: tuple[Hit, ...]) -> Found:
        """The same, written into the retrieval record; with a warning where that failed."""
        notice = self._recorder.record(request, found, hits) if self._recorder else None
        return replace(found, warnings=(*found.warnings, notice)) if notice else found

    def _emit(self, event: str, dialog_key: str | None, **payload: object) -> None:
        self._events.emit(event, {"dialog_key": dialog_key, **payload}, record_id=dialog_key)


def _check(query: str) -> None:
    permit("search")
    if is_blank(query):
        raise InputError("The query is empty.", hint="Write a few words.", field="query")
