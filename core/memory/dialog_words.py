"""The words of a dialog, indexed for BM25 once and kept while nothing of it changes. Fetched only when asked for."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from core.db.client import Database
from core.memory.bm25 import Bm25Index

KEPT = 32  # dialogs; an index of 1,000 chunks is some 2 MB
FRESH_S = 300.0  # a rollup that missed a change is not believed for longer
PAGE = 500
_STAMP = "dialog_key,chunks,sources,last_at,updated_at"


class DialogWords:
    """Thread-safe; one per process. Holds word counts, never whole texts, of the latest dialogs that were asked for."""

    def __init__(self, db: Database, now: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[str, float, Bm25Index]] = OrderedDict()

    def scores(self, dialog_key: str, query: str, ids: Sequence[str]) -> np.ndarray:
        """BM25 of the query against these chunks of the dialog, float64 (len(ids),); idf is over the whole dialog.

        One short question to the database; the texts, keyset-paged, only where they changed. Errors: DatabaseError.
        """
        index = self.index(dialog_key)
        if any(chunk_id not in index.positions for chunk_id in ids):  # the rollup lags behind the rows
            index = self._read(dialog_key, self._stamp(dialog_key))
        return index.of_ids(query, ids)

    def index(self, dialog_key: str) -> Bm25Index:
        """Of every chunk of the dialog, whatever its model. Errors: DatabaseError."""
        stamp = self._stamp(dialog_key)
        with self._lock:
            kept = self._kept.get(dialog_key)
            if kept is not None and kept[0] == stamp and self._now() - kept[1] < FRESH_S:
                self._kept.move_to_end(dialog_key)
                return kept[2]
            self._kept.pop(dialog_key, None)  # of a dialog that was erased nothing stays
        return self._read(dialog_key, stamp)

    def _stamp(self, dialog_key: str) -> str:
        return repr(
            self._db.sample("desk_dialogs", _STAMP, order="dialog_key", limit=1, where={"dialog_key": dialog_key})
        )

    def _read(self, dialog_key: str, stamp: str) -> Bm25Index:
        # The stamp is older than the texts, never newer: what changes between the two is read again.
        pages = self._db.pages("client_memory_chunks", "id,text", size=PAGE, where={"dialog_key": dialog_key})
        rows = [row for page in pages for row in page]
        index = Bm25Index.of([row["id"] for row in rows], [row["text"] or "" for row in rows])
        with self._lock:
            self._kept[dialog_key] = (stamp, self._now(), index)
            self._kept.move_to_end(dialog_key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return index
