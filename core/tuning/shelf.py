"""Candidates of labelled queries, kept for two minutes, so that a grader's next key press asks the database nothing."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from core.db.client import Database
from core.embedding.provider import Embedder
from core.events.emitter import Events
from core.tuning.judged import Found, fetch
from core.tuning.labels import LabelledQuery

FRESH_S = 120.0
KEPT = 500
# After these what is held may name chunks that are gone, or lack some that are there.
STALE_AFTER = (
    *("DialogIngested", "ChunksExcluded", "ChunksDeleted", "ChunksRestored", "DialogKeysMerged", "MergeUndone"),
    *("DialogErased", "ChunksReembedded", "DemoLoaded", "DemoRemoved"),
)


class Shelf:
    """Thread-safe; one per process. Changes by other processes are seen after two minutes."""

    def __init__(
        self,
        db: Database,
        embedder: Callable[[], Embedder],
        events: Events,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._embedder = embedder
        self._now = now
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str, str], tuple[float, Found]] = OrderedDict()
        for name in STALE_AFTER:
            events.on(name, lambda _: self.forget())

    def found(
        self,
        queries: Sequence[LabelledQuery],
        *,
        progress: Callable[[int, int], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> list[Found]:
        """The candidates of each query, in the order asked. Errors: as `fetch`."""
        embedder = self._embedder()
        keys = [(query.id, query.dialog_key, embedder.name) for query in queries]
        with self._lock:
            held = {key: self._fresh(key) for key in keys}
        missing = [query for query, key in zip(queries, keys, strict=True) if held[key] is None]
        have = len(queries) - len(missing)

        def told(done: int, _: int) -> None:
            if progress:
                progress(have + done, len(queries))

        for fresh in fetch(self._db, embedder, missing, progress=told, check=check):
            key = (fresh.query.id, fresh.query.dialog_key, embedder.name)
            held[key] = fresh
            with self._lock:
                self._held[key] = (self._now(), fresh)
                while len(self._held) > KEPT:
                    self._held.popitem(last=False)
        return [found for key in keys if (found := held[key]) is not None]

    def waiting(self, queries: Sequence[LabelledQuery]) -> int:
        """How many of these have to be asked for."""
        model = self._embedder().name
        with self._lock:
            return sum(self._fresh((q.id, q.dialog_key, model)) is None for q in queries)

    def forget(self) -> None:
        with self._lock:
            self._held.clear()

    def _fresh(self, key: tuple[str, str, str]) -> Found | None:
        kept = self._held.get(key)
        return kept[1] if kept and self._now() - kept[0] < FRESH_S else None
