"""Ingest, for pages, API and command line: normalise -> chunk -> embed what is new -> upsert, and the event of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from core.access.roles import permit
from core.embedding.provider import Embedder
from core.embedding.recipe import Recipe, recipe_of
from core.errors import CoreError
from core.events.actor import Actor, run_as
from core.events.emitter import Events
from core.memory import ingest as conductor
from core.memory.compatible import compare, require_compatible
from core.memory.ingest import IngestResult, Plan, Progress
from core.memory.payload import normalise
from core.memory.speakers import named_in
from core.memory.store import NOTHING, ChunkStore, Written
from core.services.prepared import Prepared, Preview, PreviewChunk, prepare
from core.services.turns import Turns


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
        self._turns = Turns()
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
            permit("ingest")
            return self._ingest(body, upload, progress)

    def preview(self, body: Mapping[str, Any], *, upload: bool = True) -> Preview:
        """What `ingest` would do with this body. Errors: as `ingest`, but for vectors and writes."""
        permit("ingest")
        prepared = prepare(self._store, normalise(body), upload)
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
            prepared = prepare(self._store, normalised, upload)
            dialog_key = prepared.normalised.dialog_key
            if not prepared.chunks:
                self._emit("IngestEmpty", dialog_key, warnings=len(prepared.notices))
                return _result(prepared, None)
            self._require_compatible()
            with self._turns.of(dialog_key):
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
        self, embedder: Embedder, prepared: Prepared, progress: Progress | None
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

    def _require_compatible(self) -> None:
        """Once per process, as soon as the table holds rows to compare with."""
        if self._compatible:
            return
        comparison = compare(self._store.sample())
        require_compatible(comparison)
        self._compatible = comparison.rows > 0

    def _emit(self, event: str, dialog_key: str, **payload: object) -> None:
        self._events.emit(event, {"dialog_key": dialog_key or None, **payload}, record_id=dialog_key or None)


def _result(
    prepared: Prepared, plan: Plan | None, written: Written = NOTHING, model: str | None = None
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
