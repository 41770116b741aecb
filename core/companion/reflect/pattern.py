"""When events of one type happened: by local day and hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from typing import Any

from core.db.client import Database


@dataclass(frozen=True)
class Pattern:
    """`hours`: events by local day and hour; `first`: the moment of the first one of each day; `events`: latest ids."""

    hours: Mapping[tuple[date, int], int] = field(default_factory=dict)
    first: Mapping[date, time] = field(default_factory=dict)
    events: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(self.hours.values())

    def by_day(self) -> Counter[date]:
        found: Counter[date] = Counter()
        for (day, _), number in self.hours.items():
            found[day] += number
        return found

    def by_weekday(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for day, number in self.by_day().items():
            found[day.weekday()] += number
        return found

    def by_hour(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for (_, hour), number in self.hours.items():
            found[hour] += number
        return found


def read_pattern(db: Database, type: str, where: Mapping[str, str], since: date, until: date, zone: str) -> Pattern:
    """Both days included. Errors: DatabaseError. Source: companion_event_pattern."""
    params = {"p_type": type, "p_where": dict(where), "p_since": since.isoformat(), "p_until": until.isoformat()}
    found: dict[str, Any] = db.rpc("companion_event_pattern", params | {"p_zone": zone}, read=True, returns=dict)
    return Pattern(
        {(date.fromisoformat(day), int(hour)): int(number) for day, hour, number in found["hours"]},
        {date.fromisoformat(day): time.fromisoformat(at) for day, at in found["first"].items()},
        tuple(found["events"]),
    )
