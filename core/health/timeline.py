"""The history of the checks: samples into the table, and back as runs of one state, latency and up-time."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from core.clock import Clock
from core.db.client import Database
from core.errors import CoreError
from core.health.changes import OVERALL
from core.health.report import HealthReport

log = logging.getLogger(__name__)

EVERY_S = 300  # one sample in that time of a component that does not change
KEEP = 3000  # samples in memory while the database is away: some hours of a changing installation
BATCH = 500
WRITE_S = 5.0
WINDOWS_H = (24, 168, 720)


@dataclass(frozen=True)
class Segment:
    """A component was in one state from `starts` to `ends`; what lies between segments is unknown: nobody looked."""

    component: str
    status: str
    code: str
    starts: datetime
    ends: datetime


@dataclass(frozen=True)
class Latency:
    """Mean and longest answer of a component in one bucket of time, in milliseconds."""

    component: str
    at: datetime
    mean: float
    most: float


@dataclass(frozen=True)
class Uptime:
    """Seconds that are known of a window, and those of them in which the component was not down."""

    component: str
    hours: int
    known_s: float
    up_s: float

    @property
    def share(self) -> float | None:
        """0 to 1; None where nothing is known."""
        return self.up_s / self.known_s if self.known_s > 0 else None

    @property
    def covered(self) -> float:
        """How much of the window is known, 0 to 1."""
        return min(1.0, self.known_s / (self.hours * 3600))


@dataclass(frozen=True)
class History:
    since: datetime
    until: datetime
    bucket_s: int
    segments: tuple[Segment, ...]
    latency: tuple[Latency, ...]


class Timeline:
    """Samples wait in memory while the database is away, so that an outage is in the history afterwards. `note` and
    `flush` belong to one thread; the reads to any. SQL: desk_note_health, desk_health_history, desk_health_uptime."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._waiting: deque[dict[str, Any]] = deque(maxlen=KEEP)
        self._last: dict[str, tuple[str, str, datetime]] = {}

    def note(self, report: HealthReport) -> None:
        """Keep what changed, and of the rest one sample in five minutes; never raises."""
        at = report.checked_at
        longest = max((c.latency_ms for c in report.components), default=0.0)
        found = [(c.name, c.status, c.code, c.latency_ms) for c in report.components]
        for name, status, code, latency in [*found, (OVERALL, report.status, "", longest)]:
            before = self._last.get(name)
            if before and before[:2] == (status, code) and (at - before[2]).total_seconds() < EVERY_S:
                continue
            self._last[name] = (status, code, at)
            row = {"at": at.isoformat(), "component": name, "status": status, "code": code}
            self._waiting.append({**row, "latency_ms": round(latency, 1)})
        self.flush()

    def flush(self) -> int:
        """Write what waits; how many samples still wait."""
        while self._waiting:
            rows = [self._waiting[n] for n in range(min(BATCH, len(self._waiting)))]
            try:
                self._db.rpc("desk_note_health", {"p_rows": rows}, read=False, returns=dict, timeout_s=WRITE_S)
            except CoreError as error:
                log.info("%d health samples wait (%s)", len(self._waiting), error.code)
                break
            for _ in rows:
                self._waiting.popleft()
        return len(self._waiting)

    def history(self, hours: int) -> History:
        """The last hours, latency in about 200 buckets. Errors: DatabaseError."""
        since = self._clock.now() - timedelta(hours=hours)
        bucket = max(EVERY_S, hours * 3600 // 200)
        params = {"p_since": since.isoformat(), "p_bucket_s": bucket}
        found = self._db.rpc("desk_health_history", params, read=True, returns=dict)
        return History(
            since=datetime.fromisoformat(found["since"]),
            until=datetime.fromisoformat(found["until"]),
            bucket_s=bucket,
            segments=tuple(_segment(row) for row in found["segments"]),
            latency=tuple(
                Latency(row["component"], datetime.fromisoformat(row["at"]), float(row["mean"]), float(row["most"]))
                for row in found["latency"]
            ),
        )

    def uptime(self) -> dict[str, tuple[Uptime, ...]]:
        """By component, over 24 hours, 7 and 30 days. Errors: DatabaseError."""
        rows = self._db.rpc("desk_health_uptime", {"p_hours": list(WINDOWS_H)}, read=True, returns=list)
        found: dict[str, tuple[Uptime, ...]] = {}
        for row in rows:
            one = Uptime(row["component"], int(row["hours"]), float(row["known_s"]), float(row["up_s"]))
            found[one.component] = (*found.get(one.component, ()), one)
        return found


def _segment(row: Mapping[str, Any]) -> Segment:
    starts, ends = (datetime.fromisoformat(row[name]) for name in ("starts", "ends"))
    return Segment(row["component"], row["status"], row["code"], starts, ends)
