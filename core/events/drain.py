"""From the spool into the database: in the background, in batches, patiently."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from core.db.rows import batches
from core.errors import CoreError
from core.events.spool import Record, Spool, read_segment

log = logging.getLogger(__name__)

# Writes a batch, in one transaction and idempotent by record id; raises CoreError.
Sender = Callable[[Sequence[Record]], None]

BATCH = 200
SETTLE_S = 0.15  # a burst becomes one request
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0
_LOOK_AROUND_S = 30.0  # for files of processes that died


class Drain:
    """One thread that empties a spool; each kind of record has its sender, other kinds are left alone.

    `refused(error)` tells rows that will never be taken from a database that takes none now: the former are set
    aside one by one, the latter is tried again after 0.5 s, 1 s, 2 s up to a minute.
    """

    def __init__(self, spool: Spool, senders: Mapping[str, Sender], refused: Callable[[CoreError], bool]) -> None:
        self._spool = spool
        self._senders = dict(senders)
        self._refused = refused
        self._work = threading.Lock()
        self._news = threading.Event()
        self._stop = threading.Event()
        self._pause_s = FIRST_PAUSE_S
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self.failing_since: float | None = None
        self.last_error: CoreError | None = None

    def wake(self) -> None:
        """There is something new."""
        self._news.set()
        if self._thread is None:
            self.start()

    def start(self) -> None:
        """Begin, with what an earlier process left behind."""
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="spool-drain", daemon=True)
                self._thread.start()

    def flush(self, timeout_s: float) -> bool:
        """Write everything now, in the calling thread. False where something is left."""
        if not self._work.acquire(timeout=max(0.0, timeout_s)):
            return False
        try:
            return self._drain()
        finally:
            self._work.release()

    def close(self, timeout_s: float) -> bool:
        """One last try, then stop; what is left waits on disk for the next process."""
        until = time.monotonic() + timeout_s
        self._stop.set()
        self._news.set()
        if self._thread:
            self._thread.join(timeout_s)
        return self.flush(until - time.monotonic())

    def _run(self) -> None:
        self._news.set()
        while not self._stop.is_set():
            self._news.wait(_LOOK_AROUND_S)
            self._news.clear()
            if self._stop.wait(SETTLE_S):
                return
            with self._work:
                done = self._drain()
            if done:
                self._pause_s = FIRST_PAUSE_S
            else:
                self._stop.wait(self._pause_s * random.uniform(0.8, 1.2))
                self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)
                self._news.set()

    def _drain(self) -> bool:
        done = True
        for kind, send in self._senders.items():
            try:
                self._drain_kind(kind, send)
            except CoreError as error:
                if self.failing_since is None:
                    log.warning("records of kind %s wait on disk: %s", kind, error.what)
                    self.failing_since = time.monotonic()
                self.last_error = error
                done = False
            except Exception:
                log.exception("the spool could not be emptied")
                done = False
        if done:
            self.failing_since, self.last_error = None, None
        return done

    def _drain_kind(self, kind: str, send: Sender) -> None:
        paths = self._spool.segments(kind)
        try:
            for path in list(paths):
                self._send(list(read_segment(path)), send)
                path.unlink()
                paths.remove(path)
        except CoreError:
            self._spool.settle(paths)
            raise
        self._drain_memory(kind, send)

    def _drain_memory(self, kind: str, send: Sender) -> None:
        records = self._spool.in_memory(kind)
        try:
            self._send(records, send)
        except CoreError:
            for record in records:
                self._spool.append(record)
            raise

    def _send(self, records: Sequence[Record], send: Sender) -> None:
        for batch in batches(records, BATCH):
            try:
                send(batch)
            except CoreError as error:
                if not self._refused(error):
                    raise
                if len(batch) == 1:
                    log.error("the database refuses a record of kind %s for good: %s", batch[0].kind, error.detail)
                    self._spool.refuse(batch[0])
                else:
                    middle = len(batch) // 2
                    self._send(batch[:middle], send)
                    self._send(batch[middle:], send)
