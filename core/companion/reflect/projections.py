"""The day as its modules see it: built in parallel, kept for half a minute, made anew when an event says so.

Source: spec/companion.md, PR-1 to PR-3 and CR-1.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from contextvars import copy_context
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any

from core.companion.contract import Module, Section
from core.db.client import Database
from core.errors import CoreError, DatabaseUnavailable
from core.events.emitter import Events
from core.events.event import Event

log = logging.getLogger(__name__)

TTL_S = 30.0
SECTION_S = 12.0
LOOK_EVERY_S = 2.0  # at what other processes have written
THREADS = 4
DAYS_KEPT = 8


@dataclass(frozen=True)
class DaySnapshot(Mapping[str, Mapping[str, Any]]):
    """One section per module, and `errors`: module -> code of what went wrong there.

    `age_s`: of sections that could not be built now and are shown as they were, seconds since then.
    """

    date: date
    sections: Mapping[str, Mapping[str, Any]]
    errors: Mapping[str, str]
    age_s: Mapping[str, float]

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        return self.errors if name == "errors" else self.sections[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.sections, "errors"))

    def __len__(self) -> int:
        return len(self.sections) + 1


@dataclass(frozen=True)
class _Built:
    value: Mapping[str, Any]
    at: float
    version: int
    error: str | None = None


class Projections:
    """Thread-safe; one per process. `now` is a monotonic clock in seconds."""

    def __init__(
        self, db: Database, events: Events, modules: Sequence[Module], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._db = db
        self._now = now
        self._sections: dict[str, Section] = {module.name: module.section for module in modules}
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, date], _Built] = {}
        self._versions = dict.fromkeys(self._sections, 0)
        self._building: dict[date, threading.Lock] = {}
        self._seen: int | None = None
        self._looked_at = float("-inf")
        self._pool: ThreadPoolExecutor | None = None
        self._unsubscribe = events.on_any(self._heard)

    def day(self, day: date) -> DaySnapshot:
        """The snapshot of a local day. Never raises: a section that fails is empty, or as it last was where the
        database is away, and stands in `errors`."""
        self._look_around()
        with self._lock:
            building = self._building.setdefault(day, threading.Lock())
        with building:  # whoever comes meanwhile gets what the first one built
            wanted = [name for name in self._sections if not self._fresh(name, day)]
            context = [(name, self._start(name, day)) for name in wanted]
            for name, (version, future) in context:
                self._keep(name, day, version, future)
            self._forget()
        with self._lock:
            built = {name: self._kept.get((name, day)) for name in self._sections}
        now = self._now()
        return DaySnapshot(
            date=day,
            sections={n: b.value if b else self._sections[n].empty for n, b in built.items()},
            errors=MappingProxyType({n: b.error for n, b in built.items() if b and b.error}),
            age_s=MappingProxyType({n: now - b.at for n, b in built.items() if b and b.error and b.at > float("-inf")}),
        )

    def invalidate(self, *modules: str) -> None:
        """Build these sections anew at the next look; all of them where none is named."""
        with self._lock:
            for name in modules or tuple(self._versions):
                self._versions[name] += 1

    def close(self) -> None:
        """Stop listening and building."""
        self._unsubscribe()
        with self._lock:
            pool, self._pool = self._pool, None
        if pool:
            pool.shutdown(wait=False, cancel_futures=True)

    def _heard(self, event: Event) -> None:
        self._stale({event.type})

    def _stale(self, types: set[str]) -> None:
        concerned = [name for name, section in self._sections.items() if types & set(section.stale_after)]
        if concerned:
            self.invalidate(*concerned)

    def _look_around(self) -> None:
        """What other processes have written meanwhile, by the log of events: its last row is the version of all."""
        now = self._now()
        with self._lock:
            if now - self._looked_at < LOOK_EVERY_S:
                return
            self._looked_at = now
            seen = self._seen
        try:
            after = 2**62 if seen is None else seen
            answer = self._db.rpc("companion_changes", {"p_after": after, "p_limit": 20_000}, read=True, returns=dict)
        except CoreError:
            return  # the sections will say so themselves
        with self._lock:
            self._seen = int(answer["head"])
        if seen is None:
            return
        if answer["seq"] < answer["head"]:  # more than one answer tells: anything may be among them
            self.invalidate()
        self._stale(set(answer["types"]))

    def _fresh(self, name: str, day: date) -> bool:
        with self._lock:
            built = self._kept.get((name, day))
            return (
                built is not None
                and built.error is None
                and built.version == self._versions[name]
                and self._now() - built.at < TTL_S
            )

    def _start(self, name: str, day: date) -> tuple[int, Future[Mapping[str, Any]]]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="day")
            # The version from before: an event that comes while it is built makes it stale again.
            return self._versions[name], self._pool.submit(copy_context().run, self._sections[name].build, day)

    def _keep(self, name: str, day: date, version: int, future: Future[Mapping[str, Any]]) -> None:
        try:
            built = _Built(MappingProxyType(dict(future.result(SECTION_S))), self._now(), version)
        except Exception as failure:
            future.cancel()
            code = _code(failure)
            log.warning("the section %s of the day was not built (%s)", name, code)
            with self._lock:
                before = self._kept.get((name, day))
            away = isinstance(failure, (DatabaseUnavailable, TookTooLong))
            if away and before and before.at > float("-inf"):
                built = _Built(before.value, before.at, version, code)
            else:
                built = _Built(self._sections[name].empty, float("-inf"), version, code)
        with self._lock:
            self._kept[name, day] = built

    def _forget(self) -> None:
        with self._lock:
            days = list(dict.fromkeys(day for _, day in self._kept))
            for old in days[:-DAYS_KEPT]:
                self._building.pop(old, None)
                for name in self._sections:
                    self._kept.pop((name, old), None)


def _code(failure: Exception) -> str:
    """What went wrong, without a word of what it was about."""
    if isinstance(failure, CoreError):
        return failure.code
    return "timeout" if isinstance(failure, TookTooLong) else type(failure).__name__
