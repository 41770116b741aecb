"""Reloads the schema cache when a migration says so: `notify pgrst, 'reload schema'`."""

from __future__ import annotations

import threading
import time

import psycopg

from core.local.gateway.cache import SchemaCache
from core.local.gateway.errors import Failure
from core.local.gateway.pool import Pool

POLL_S = 30.0
RETRY_S = 1.0


class Listener:
    """A daemon thread with a connection of its own; it survives restarts of the database, reloading after each."""

    def __init__(self, pool: Pool, cache: SchemaCache) -> None:
        self._pool = pool
        self._cache = cache
        self._stopped = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="listen", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._listen()
            except (psycopg.Error, Failure):
                self._stopped.wait(RETRY_S)

    def _listen(self) -> None:
        with self._pool.connect() as connection:
            connection.execute("LISTEN pgrst")
            self._cache.newer_than(time.monotonic())
            while not self._stopped.is_set():
                for notice in connection.notifies(timeout=POLL_S, stop_after=1):
                    if notice.payload in ("", "reload schema"):
                        self._cache.newer_than(time.monotonic())
