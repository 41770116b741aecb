"""When a state has changed for good: seen several times in a row, over some time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from core.health.report import Status

# A state of its own is believed after so many looks in a row, the first and the last so many seconds apart.
LOOKS = {"down": 2, "degraded": 3, "ok": 3}
HOLD_S = {"down": 30.0, "degraded": 60.0, "ok": 60.0}


@dataclass(frozen=True)
class Change:
    """A component went from one settled status to another; `since` is when the new one was first seen."""

    name: str
    status: Status
    previous: Status
    since: datetime
    previous_since: datetime


@dataclass
class _Track:
    status: Status
    since: datetime
    candidate: Status | None = None
    first: datetime | None = None
    looks: int = 0


class Settled:
    """The settled status of each component. The first look at one sets the mark; `unknown` says nothing.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._tracks: dict[str, _Track] = {}

    def see(self, name: str, status: Status, at: datetime) -> Change | None:
        """The change that this look completes, else None."""
        if status == "unknown":
            return None
        track = self._tracks.get(name)
        if track is None:
            self._tracks[name] = _Track(status, at)
            return None
        if status == track.status:
            track.candidate, track.first, track.looks = None, None, 0
            return None
        if status != track.candidate or track.first is None:
            track.candidate, track.first, track.looks = status, at, 0
        track.looks += 1
        if track.looks < LOOKS[status] or (at - track.first).total_seconds() < HOLD_S[status]:
            return None
        change = Change(name, status, track.status, track.first, track.since)
        self._tracks[name] = _Track(status, track.first)
        return change

    def mark(self, name: str, status: Status, since: datetime) -> None:
        """What is settled already, as an earlier process left it."""
        self._tracks[name] = _Track(status, since)

    @property
    def unsettled(self) -> bool:
        """Whether some component differs from its settled status: worth another look soon."""
        return any(track.candidate is not None for track in self._tracks.values())

    def states(self) -> dict[str, tuple[Status, datetime]]:
        """Every component's settled status, and since when."""
        return {name: (track.status, track.since) for name, track in self._tracks.items()}
