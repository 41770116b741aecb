"""The schema cache: read on first use, on a miss, and when somebody says `notify pgrst, 'reload schema'`."""

from __future__ import annotations

import threading
import time

from core.local.gateway.catalogue import read_schema
from core.local.gateway.pool import Pool
from core.local.gateway.schema import Schema


class SchemaCache:
    """Thread-safe. Many misses at once lead to one reading: a reading begun after the miss serves all who waited."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._schema: Schema | None = None
        self._read_at = float("-inf")

    def current(self) -> Schema:
        return self._schema or self.newer_than(float("-inf"))

    def newer_than(self, moment: float) -> Schema:
        """A schema whose reading began after `moment` (of time.monotonic). Errors: as Pool.connection."""
        with self._lock:
            if self._schema is None or self._read_at <= moment:
                began = time.monotonic()
                with self._pool.connection() as connection:
                    self._schema = read_schema(connection)
                self._read_at = began
            return self._schema
