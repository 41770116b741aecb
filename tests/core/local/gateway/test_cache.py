"""The schema cache: one reading serves all who wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from core.local.gateway import cache as module
from core.local.gateway.cache import SchemaCache
from core.local.gateway.schema import Schema


class EmptyPool:
    """Stands for the pool: the reading itself is replaced."""

    @contextmanager
    def connection(self) -> Iterator[None]:
        yield None


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When each reading began; one takes 50 ms."""
    began: list[float] = []

    def read(_: Any) -> Schema:
        began.append(time.monotonic())
        time.sleep(0.05)
        return Schema()

    monkeypatch.setattr(module, "read_schema", read)
    return began


def test_read_once(readings: list[float]) -> None:
    """The first use reads; the next ones do not."""
    cache = SchemaCache(EmptyPool())  # type: ignore[arg-type]
    assert cache.current() is cache.current() and len(readings) == 1


def test_many_misses_one_reading(readings: list[float]) -> None:
    """Eight misses at once cost one reading, or two for those that came while the first was under way."""
    cache = SchemaCache(EmptyPool())  # type: ignore[arg-type]
    cache.current()
    misses = [threading.Thread(target=lambda: cache.newer_than(time.monotonic())) for _ in range(8)]
    for miss in misses:
        miss.start()
    for miss in misses:
        miss.join()
    assert 2 <= len(readings) <= 3


def test_a_reading_from_before_the_miss_is_not_enough(readings: list[float]) -> None:
    """Each miss after a reading reads again, however short the time between: a migration may lie in it."""
    cache = SchemaCache(EmptyPool())  # type: ignore[arg-type]
    for _ in range(3):
        cache.newer_than(time.monotonic())
    assert len(readings) == 3
