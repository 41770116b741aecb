"""One at a time for each key: whoever comes second waits for the first."""

from __future__ import annotations

import threading
from weakref import WeakValueDictionary


class Turns:
    """Thread-safe; keeps nothing of a key that nobody waits for."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[str, Turn] = WeakValueDictionary()
        self._lock = threading.Lock()

    def of(self, key: str) -> Turn:
        """The turn of a key, to be entered."""
        with self._lock:
            turn = self._turns.get(key)
            if turn is None:
                turn = self._turns[key] = Turn()
            return turn


class Turn:
    """A lock that a weak dictionary can hold: it lives as long as somebody waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
