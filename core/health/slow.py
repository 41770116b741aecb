"""Slow or not, with a dead band, so that a value around the limit does not turn back and forth."""

from __future__ import annotations

from collections import defaultdict

SLOW_MS = 1000.0
FAST_MS = 800.0
IN_A_ROW = 3


class Slowness:
    """Per component: slow after three answers in a row above 1,000 ms, quick again after three below 800 ms.

    Between the limits nothing changes; an answer that did not come says nothing about speed. Not thread-safe.
    """

    def __init__(self) -> None:
        self._slow: dict[str, bool] = {}
        self._row: defaultdict[str, int] = defaultdict(int)

    def see(self, component: str, latency_ms: float | None) -> bool:
        """Whether the component counts as slow, after this answer. `None`: no answer."""
        slow = self._slow.get(component, False)
        if latency_ms is None:
            return slow
        against = latency_ms < FAST_MS if slow else latency_ms > SLOW_MS
        self._row[component] = self._row[component] + 1 if against else 0
        if self._row[component] >= IN_A_ROW:
            slow = not slow
            self._slow[component], self._row[component] = slow, 0
        return slow
