"""Daily figures over events, computed in the database. Source: SQL function companion_daily_metrics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.companion.contract import Measure
from core.db.client import Database
from core.db.rows import batches

Daily = dict[date, float]
MEASURES_S = 65.0  # a little above what the function gives itself
BATCH = 4  # of them in one question, so that a large log does not outlast it


class Measures:
    """Thread-safe. Days are those of the zone."""

    def __init__(self, db: Database, zone: ZoneInfo) -> None:
        self._db = db
        self._zone = zone

    def daily(
        self, measures: Mapping[str, Measure], since: date, until: date, *, not_before: datetime | None = None
    ) -> dict[str, Daily]:
        """By id the value of each day from `since` to `until`, both included; days without an event are left out.

        `not_before` leaves events before that instant out, but not those that name their day. Errors: DatabaseError.
        """
        found: dict[str, Daily] = {}
        for names in batches(list(measures), BATCH):
            answer = self._db.rpc(
                "companion_daily_metrics",
                {
                    "p_measures": {name: as_json(measures[name]) for name in names},
                    "p_since": since.isoformat(),
                    "p_until": until.isoformat(),
                    "p_tz": self._zone.key,
                    "p_not_before": not_before.isoformat() if not_before else None,
                },
                read=True,
                returns=dict,
                timeout_s=MEASURES_S,
            )
            for name in names:
                found[name] = {date.fromisoformat(d): float(value) for d, value in answer.get(name, {}).items()}
        return found


def as_json(measure: Measure) -> dict[str, Any]:
    """A measure as the SQL function takes it."""
    return {
        "events": list(measure.events),
        "agg": measure.agg,
        "value_field": measure.value_field,
        "where": dict(measure.where),
        "minus": list(measure.minus),
        "day_field": measure.day_field,
        "unless": list(measure.unless),
    }
