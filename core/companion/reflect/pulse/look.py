"""What rules look at, read only where a rule really looks: most events wake a rule that needs nothing of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from threading import RLock
from typing import Any, Generic, TypeVar, overload
from zoneinfo import ZoneInfo

from core.companion.contract import RuleContext
from core.companion.reflect.pulse.store import PulseStore
from core.events.event import Event

T = TypeVar("T")
STATS_DAYS = 30


@dataclass(frozen=True)
class Sources:
    """Where the parts of a context come from; each may raise CoreError, which is then the rule's failure."""

    day: Callable[[date], Mapping[str, Mapping[str, Any]]] = lambda _: {}
    streaks: Callable[[], Sequence[Any]] = tuple
    goals: Callable[[], Sequence[Any]] = tuple
    facts: Callable[[], Sequence[Any]] = tuple
    correlations: Callable[[], Sequence[Any]] = tuple


class _Once(Generic[T]):
    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._lock = RLock()
        self._value: list[T] = []

    def __call__(self) -> T:
        with self._lock:
            if not self._value:
                self._value.append(self._read())
            return self._value[0]


class LazyMapping(Mapping[str, Any]):
    """A mapping that is read at the first look."""

    def __init__(self, read: Callable[[], Mapping[str, Any]]) -> None:
        self._get = _Once(read)

    def __getitem__(self, key: str) -> Any:
        return self._get()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())


class LazySequence(Sequence[Any]):
    """A sequence that is read at the first look."""

    def __init__(self, read: Callable[[], Sequence[Any]]) -> None:
        self._get = _Once(read)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._get()[index]

    def __len__(self) -> int:
        return len(self._get())


def look(sources: Sources, store: PulseStore, now: datetime, zone: ZoneInfo, event: Event | None = None) -> RuleContext:
    """The context of this moment. Nothing of it is read yet."""
    local = now.astimezone(zone)

    def stats() -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for stat in store.stats(now - timedelta(days=STATS_DAYS)):
            acted, total = found.get(stat.type, (0, 0))
            found[stat.type] = (acted + stat.acted, total + stat.total)
        return found

    return RuleContext(
        now=local,
        zone=zone,
        day=LazyMapping(lambda: sources.day(local.date())),
        streaks=LazySequence(sources.streaks),
        goals=LazySequence(sources.goals),
        facts=LazySequence(sources.facts),
        correlations=LazySequence(sources.correlations),
        stats=LazyMapping(stats),
        event=event,
        shown=LazyMapping(lambda: store.recent(now - timedelta(days=STATS_DAYS))),
    )
