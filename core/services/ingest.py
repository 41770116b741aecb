"""Ingest, for pages, API and command line: normalise -> chunk -> embed what is new -> upsert, and the event of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from core.access.roles import require
from core.embedding.provider import Embedder
from core.embedding.recipe import Recipe, recipe_of
from core.errors import CoreError
from core.events.actor import LOCAL_OPERATOR, Actor, current_actor, run_as
from core.events.emitter import Events
from core.memory import ingest as conductor
from core.memory.chunks import Chunk, build_chunks
from core.memory.compatible import compare, require_compatible
from core.memory.ingest import IngestResult, Plan, Progress
from core.memory.keys import both_keys
from core.memory.notices import Notice
from core.memory.payload import Normalised, normalise, with_key
from core.memory.speakers import named_in
from core.memory.store import NOTHING, ChunkStore, Owner, Written

REASONS = {
    "tips": "Key of RU and TU, in the order of the tips flow.",
    "generic": "Key of TU and RU, in the order of the memory API.",
    "custom": "The dialogKey of the request.",
}


@dataclass(frozen=True)
class PreviewChunk:
    """A chunk as it would be written; `state` is new, stale (re-embedded), excluded or unchanged."""

    chunk: Chunk
    state: str


@dataclass(frozen=True)
class Preview:
    """What an ingest of the same body would do now; nothing was embedded or written."""

    dialog_key: str
    key_order: str
    key_reason: str
    favorite_id: str
    ru_id: str | None
    tu_id: str | None
    chunks: tuple[PreviewChunk, ...]
    notices: tuple[Notice, ...]
    model: str

    def count(self, state: str) -> int:
        return sum(item.state == state for item in self.chunks)


@dataclass(frozen=True)
class _Prepared:
    normalised: Normalised
    reason: str
    chunks: list[Chunk]
    notices: tuple[Notice, ...]

    @property
    def owner(self) -> Owner:
        n = self.normalised
        return Owner(n.dialog_key, n.ru_id, n.tu_id, n.favorite_id, n.compose_mode)


class IngestService:
    """One per process, thread-safe. Ingests of one dialog wait for each other here; between processes the unique key
    keeps a chunk single. `recipe` reads the active embedding recipe from the database."""

    def __init__(
        self,
        store: ChunkStore,
        embedder: Callable[[], Embedder],
        events: Events,
        recipe: Callable[[], Recipe] | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._events = events
        self._recipe = recipe
        self._turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()
        self._turns_lock = threading.Lock()
        self._compatible = False

    def ingest(
        self,
        body: Mapping[str, Any],
        *,
        actor: Actor | None = None,
        upload: bool = False,
        progress: Progress | None = None,
    ) -> IngestResult:
        """Ingest one payload. `upload`: of the pair's two keys take the one that has rows, else the tips key.

        `progress(stage, done, total)` is called from this thread with stage embed, then write.
        Errors: InputError (400), MissingIdentity (422), IncompatibleRows (409), ProviderError (502, nothing written),
        DatabaseError (502 or 503; a second try completes what is missing).
        """
        with run_as(actor) if actor else nullcontext():
            require(current_actor() or LOCAL_OPERATOR, "ingest")
            return self._ingest(body, upload, progress)

    def preview(self, body: Mapping[str, Any], *, upload: bool = True) -> Preview:
        """What `ingest` would do with this body. Errors: as `ingest`, but for vectors and writes."""
        require(current_actor() or LOCAL_OPERATOR, "ingest")
        prepared = self._prepare(normalise(body), upload)
        n = prepared.normalised
        model = self._embedder().name
        plan = conductor.make_plan(self._store, n.dialog_key, prepared.chunks, model)
        return Preview(
            dialog_key=n.dialog_key,
            key_order=n.key_order,
            key_reason=prepared.reason,
            favorite_id=n.favorite_id,
            ru_id=n.ru_id,
            tu_id=n.tu_id,
            chunks=tuple(PreviewChunk(chunk, plan.state(chunk)) for chunk in plan.chunks),
            notices=(*prepared.notices, *conductor.plan_notices(plan)),
            model=model,
        )

    def _ingest(self, body: Mapping[str, Any], upload: bool, progress: Progress | None) -> IngestResult:
        started = time.perf_counter()
        stage, dialog_key = "normalize", ""
        try:
            normalised = normalise(body)
            dialog_key = normalised.dialog_key
            prepared = self._prepare(normalised, upload)
            dialog_key = prepared.normalised.dialog_key
            if not prepared.chunks:
                self._emit("IngestEmpty", dialog_key, warnings=len(prepared.notices))
                return _result(prepared, None)
            self._require_compatible()
            with self._turn(dialog_key):
                stage = "embed"
                embedder = self._embedder()
                plan, vectors = self._embed(embedder, prepared, progress)
                stage = "upsert"
                written = conductor.write(self._store, prepared.owner, plan, vectors, embedder.name, progress)
                if plan.pending and self._overtaken(embedder.name):
                    stage = "embed"
                    embedder = self._embedder()
                    again, vectors = self._embed(embedder, prepared, progress)
                    stage = "upsert"
                    conductor.write(self._store, prepared.owner, again, vectors, embedder.name, progress)
                model = embedder.name
        except Exception as failure:
            field = getattr(failure, "field", None)
            self._emit("IngestFailed", dialog_key, stage=stage, error_class=type(failure).__name__, field=field)
            raise
        result = _result(prepared, plan, written, model)
        self._emit(
            "DialogIngested",
            dialog_key,
            upserted=written.added + written.reembedded,
            total_chunks=result.total_chunks,
            by_source=dict(result.sources),
            model=model,
            dims=embedder.dimensions,
            duration_ms=round((time.perf_counter() - started) * 1000, 1),
            added=result.added,
            unchanged=result.unchanged,
            reembedded=result.reembedded,
            warnings=len(result.warnings),
        )
        return result

    def _embed(
        self, embedder: Embedder, prepared: _Prepared, progress: Progress | None
    ) -> tuple[Plan, dict[str, np.ndarray]]:
        key = prepared.owner.dialog_key
        plan = conductor.make_plan(self._store, key, prepared.chunks, embedder.name)
        speakers = None
        if recipe_of(embedder.name) == "speaker" and plan.pending:
            stored, sent = self._store.speakers([key])[key], named_in(prepared.chunks)
            speakers = replace(stored, ru=sent.ru) if sent else stored
        return plan, conductor.embed(embedder, plan, progress, speakers=speakers)

    def _overtaken(self, model: str) -> bool:
        """Whether a switch of the recipe ended meanwhile: what was just written is then of the former one."""
        try:
            return self._recipe is not None and self._recipe() != recipe_of(model)
        except CoreError:  # it is written; Health finds rows of another recipe
            return False

    def _prepare(self, normalised: Normalised, upload: bool) -> _Prepared:
        reason = REASONS[normalised.key_order]
        if upload and normalised.key_order != "custom" and normalised.ru_id and normalised.tu_id:
            tips, generic = both_keys(normalised.ru_id, normalised.tu_id)
            counts = self._store.counts([tips, generic])
            if counts[generic] and not counts[tips]:
                normalised = with_key(normalised, generic)
                reason = (
                    f"Key of TU and RU: this pair has {counts[generic]:,} chunks there, none under the other order."
                )
            else:
                normalised = with_key(normalised, tips)
                reason = "Key of RU and TU: this pair has no chunks yet."
                if counts[tips]:
                    also = f"; {counts[generic]:,} more stand under the other order" if counts[generic] else ""
                    reason = f"Key of RU and TU: this pair has {counts[tips]:,} chunks there{also}."
        chunks, notices = build_chunks(normalised)
        return _Prepared(normalised, reason, chunks, tuple(dict.fromkeys((*normalised.notices, *notices))))

    def _require_compatible(self) -> None:
        """Once per process, as soon as the table holds rows to compare with."""
        if self._compatible:
            return
        comparison = compare(self._store.sample())
        require_compatible(comparison)
        self._compatible = comparison.rows > 0

    def _turn(self, dialog_key: str) -> _Turn:
        with self._turns_lock:
            turn = self._turns.get(dialog_key)
            if turn is None:
                turn = self._turns[dialog_key] = _Turn()
            return turn

    def _emit(self, event: str, dialog_key: str, **payload: object) -> None:
        self._events.emit(event, {"dialog_key": dialog_key or None, **payload}, record_id=dialog_key or None)


class _Turn:
    """A lock that a weak dictionary can hold: it lives as long as somebody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _result(
    prepared: _Prepared, plan: Plan | None, written: Written = NOTHING, model: str | None = None
) -> IngestResult:
    chunks = plan.chunks if plan else ()
    excluded = len(plan.excluded) + written.excluded if plan else 0
    said = conductor.plan_notices(plan, excluded) if plan else ()
    return IngestResult(
        favorite_id=prepared.normalised.favorite_id,
        dialog_key=prepared.normalised.dialog_key,
        sources=conductor.source_counts(chunks),
        total_chunks=len(chunks),
        added=written.added,
        unchanged=len(chunks) - written.added - written.reembedded - excluded,
        reembedded=written.reembedded,
        notices=(*prepared.notices, *said),
        key_order=prepared.normalised.key_order,
        key_reason=prepared.reason,
        model=model,
        excluded=excluded,
    )
