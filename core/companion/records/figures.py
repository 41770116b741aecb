"""Figures per local day over all that an operator keeps: for week charts and daily metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from core.companion.records.ledger import Ledger


class Figures:
    """Source: SQL function companion_pilot_days. Errors: DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def days(self, since: date, until: date) -> tuple[Mapping[str, Any], ...]:
        """One mapping per local day from `since` to `until`, at most 401, with `day` as ISO text."""
        tz = self._ledger.zone.key
        return tuple(self._ledger.read("companion_pilot_days", since=since, until=until, tz=tz))

    def daily(self, name: str) -> Callable[[date, date], Mapping[date, float]]:
        """One figure as a daily metric."""

        def read(since: date, until: date) -> Mapping[date, float]:
            return {date.fromisoformat(row["day"]): float(row[name]) for row in self.days(since, until)}

        return read
