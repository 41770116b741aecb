"""A small pool of connections. One that the server closed is noticed before use, so a restart costs nobody an error."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from core.local.gateway.errors import Failure, unavailable

SIZE = 10
WAIT_S = 5.0
# The hosted database runs in UTC; the machine's own zone must not show in JSON.
OPTIONS = "-c TimeZone=UTC -c application_name=memory-desk-gateway"


class Pool:
    """At most SIZE connections, made on demand. Why not psycopg_pool: where the database is down it waits for its
    own timeout, and the caller, who can restart the database, must hear of it at once."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._idle: list[psycopg.Connection[Any]] = []
        self._busy: set[psycopg.Connection[Any]] = set()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(SIZE)

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection in autocommit. Errors: Failure 503 PGRST000 (no database), 504 PGRST003 (all in use)."""
        if not self._places.acquire(timeout=WAIT_S):
            raise Failure(504, "PGRST003", "Timed out acquiring connection from connection pool.")
        try:
            connection = self._take() or self.connect()
            with self._lock:
                self._busy.add(connection)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._places.release()

    def connect(self) -> psycopg.Connection[Any]:
        """A connection outside the pool, the caller's to close. Errors: Failure 503 PGRST000."""
        try:
            return psycopg.connect(self._dsn, autocommit=True, connect_timeout=5, options=OPTIONS)
        except psycopg.OperationalError:
            raise unavailable() from None

    def close(self) -> None:
        """Ends idle connections and cancels what the others run, so that an exit need not wait for a statement."""
        with self._lock:
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for connection in busy:
            connection.cancel()
        for connection in idle:
            connection.close()

    def _take(self) -> psycopg.Connection[Any] | None:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None or _still_open(connection):
                return connection
            connection.close()

    def _give_back(self, connection: psycopg.Connection[Any]) -> None:
        with self._lock:
            self._busy.discard(connection)
        if connection.broken or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
            return
        with self._lock:
            self._idle.append(connection)


def _still_open(connection: psycopg.Connection[Any]) -> bool:
    """Whether the server still holds its end: on one machine a dead server shows as an end of file. No round trip."""
    try:
        connection.pgconn.consume_input()  # the server's farewell, if it had time for one
        connection.pgconn.consume_input()  # the end of file behind it
    except psycopg.OperationalError:
        return False
    return not connection.closed
