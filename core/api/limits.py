"""How much from whom: token buckets by name, in this process. Pure but for its clock, which can be given."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable


class Buckets:
    """One bucket for each name: full at first with `burst` tokens, filled by `per_minute`. Thread-safe.

    At most `size` names are remembered; the one that was asked about longest ago goes first, and starts full again.
    `per_minute` of 0: no limit at all.
    """

    def __init__(
        self, per_minute: float, burst: float, *, size: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_s = per_minute / 60
        self._burst = burst
        self._size = size
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: str, cost: float = 1.0) -> float:
        """0.0 where `cost` tokens were there and are taken now; else the seconds until they will be, nothing taken."""
        with self._lock:
            now = self._clock()
            level = self._level(name, now)
            wait = self._wait(level, cost)
            self._keep(name, level if wait else level - cost, now)
            return wait

    def wait(self, name: str, cost: float = 1.0) -> float:
        """What `take` would answer; nothing is taken."""
        with self._lock:
            return self._wait(self._level(name, self._clock()), cost)

    def _level(self, name: str, now: float) -> float:
        level, at = self._levels.get(name, (self._burst, now))
        return min(self._burst, level + (now - at) * self._per_s)

    def _wait(self, level: float, cost: float) -> float:
        # A cost above the burst passes on a full bucket, which then is in debt: it could never pass otherwise.
        missing = min(cost, self._burst) - level
        return missing / self._per_s if self._per_s > 0 and missing > 1e-9 else 0.0

    def _keep(self, name: str, level: float, now: float) -> None:
        self._levels[name] = (level, now)
        self._levels.move_to_end(name)
        while len(self._levels) > self._size:
            self._levels.popitem(last=False)
