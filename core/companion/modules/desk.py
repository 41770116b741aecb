"""What the modules of the product's own parts share: the bounds of a day, figures that are noted, events made once."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from core.companion.settings import CompanionSettings
from core.events.actor import run_as, system
from core.usage.periods import Period, midnight

if TYPE_CHECKING:
    from core.companion.deps import Deps

NOTED_AGAIN = timedelta(minutes=15)
_NAMESPACE = uuid.UUID("1c7c7a4c-4b55-5a0e-8a0c-8d0f7d0c6a11")
# Figures of rules and streaks that the operator may set, and what they are before.
FIGURES: Mapping[str, float] = {
    "memory.p95_ms": 800,
    "memory.fallback_percent": 5,
    "memory.searches_least": 20,
    "memory.stale_percent": 5,
    "snapshots.expired_many": 1_000,
    "snapshots.expired_flood": 10_000,
    "snapshots.expired_old_days": 3,
    "snapshots.expired_ancient_days": 14,
    "usage.unknown_percent": 2,
    "usage.unknown_percent_high": 10,
    "usage.calls_least": 20,
    "usage.spike_factor_high": 6,
    "usage.warn_percent": 80,
}


@dataclass(frozen=True)
class Desk:
    """One per process, thread-safe. Errors of all: DatabaseError."""

    deps: Deps
    settings: CompanionSettings

    def now(self) -> datetime:
        """The present instant, with the zone of the settings."""
        return self.deps.clock.now().astimezone(self.deps.zone)

    def today(self) -> date:
        return self.now().date()

    def period(self, day: date) -> Period:
        """A local day from its first instant to its end, which may lie ahead."""
        return Period(midnight(day, self.deps.zone), midnight(day + timedelta(days=1), self.deps.zone))

    def limit(self, name: str) -> float:
        return self.settings.figure(name, FIGURES[name])

    def read(self, function: str, **given: Any) -> Any:
        return self.deps.db.rpc(function, {f"p_{name}": _plain(value) for name, value in given.items()}, read=True)

    def note(self, values: Mapping[str, float]) -> None:
        """Keep figures of today; the last of a day stand."""
        given = {"p_day": self.today().isoformat(), "p_values": dict(values), "p_at": self.deps.clock.now().isoformat()}
        self.deps.db.rpc("companion_note_figures", given, read=False)

    def latest(self, *names: str) -> dict[str, tuple[float, datetime]]:
        """By name the figure last noted and when; those never noted are absent."""
        answer: Any = self.read("companion_latest_figures", names=[*names])
        return {n: (float(f["value"]), datetime.fromisoformat(f["at"])) for n, f in answer.items()}

    def noted(
        self, compute: Callable[[], Mapping[str, float]], *names: str, every: timedelta, mark: str = ""
    ) -> Mapping[str, float]:
        """Figures as last noted; computed and noted anew where they are older than `every` or than the note `mark`,
        or of another day."""
        now, found = self.deps.clock.now(), self.latest(*names, *([mark] if mark else []))
        marked = found.pop(mark, (0.0, datetime.min.replace(tzinfo=UTC)))[1]
        fresh = [
            now - at < every and at > marked and at.astimezone(self.deps.zone).date() == self.today()
            for _, at in found.values()
        ]
        if len(found) == len(names) and all(fresh):
            return {name: value for name, (value, _) in found.items()}
        values = compute()
        self.note(values)
        return values

    def days(self, name: str) -> Callable[[date, date], Mapping[date, float]]:
        """A noted figure as a daily metric."""

        def read(since: date, until: date) -> Mapping[date, float]:
            answer: Any = self.read("companion_figure_days", name=name, since=since, until=until)
            return {date.fromisoformat(day): float(value) for day, value in answer.items()}

        return read

    def tell_once(self, type: str, payload: Mapping[str, Any], *about: object) -> bool:
        """Emit an event that is made once for what it is about, over all processes and restarts; whether it was now."""
        with run_as(system("projection")):
            event = self.deps.events.prepare(type, payload)
        id = str(uuid.uuid5(_NAMESPACE, ":".join(map(str, (type, *about)))))
        event = replace(event, meta=replace(event.meta, id=id))
        if not self.deps.events.store.append([event.row()]):
            return False
        self.deps.events.announce(event)
        return True


def share(part: float, whole: float) -> float:
    """In percent with one decimal; 0 of nothing."""
    return round(100 * part / whole, 1) if whole else 0.0


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
