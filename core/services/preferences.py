"""What somebody chose for themselves: the time zone in which they read. Nothing stored depends on it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from core.access import acting, permit
from core.clock import Clock
from core.db.client import Database
from core.errors import DatabaseError, InputError
from core.events.emitter import Events

KEPT_S = 30.0
KEPT = 2_000
REST_S = 15.0  # after the database did not answer: a page asks often, and no date is worth a wait each time


@cache
def zones() -> tuple[str, ...]:
    """Names of the IANA database as people know them: UTC, and those by place."""
    places = (name for name in available_timezones() if "/" in name)
    return ("UTC", *sorted(n for n in places if not n.startswith(("Etc/", "posix/", "right/", "SystemV/", "US/"))))


class Preferences:
    """Thread-safe; one per process. A change made elsewhere is seen within half a minute."""

    def __init__(
        self, db: Database, events: Events, clock: Clock, default: ZoneInfo, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._default = default
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, str | None]] = OrderedDict()
        self._resting_until = float("-inf")

    def chosen(self) -> str | None:
        """The zone that the one who acts chose; None: as the installation. Errors: Forbidden, DatabaseError."""
        who = acting().principal_id
        with self._lock:
            kept = self._kept.get(who)
        if kept and self._now() - kept[0] < KEPT_S:
            return kept[1]
        answer = self._db.rpc("desk_preference", {"p_principal": who}, read=True, returns=dict)
        return self._keep(who, answer["time_zone"])

    def zone(self) -> ZoneInfo:
        """The zone in force for the one who acts; that of the installation while nobody can say. Errors: Forbidden."""
        try:
            name = self._last() if self._now() < self._resting_until else self.chosen()
        except DatabaseError:
            self._resting_until = self._now() + REST_S
            name = self._last()
        return ZoneInfo(name) if name in zones() else self._default

    def choose(self, time_zone: str | None) -> bool:
        """Read in this zone from now on; None: as the installation. False where it was so already.

        Errors: Forbidden, InputError, DatabaseError.
        """
        permit("save_view")
        if time_zone is not None and time_zone not in zones():
            raise InputError("There is no such time zone.", hint="Choose one of the list.", field="time_zone")
        who = acting().principal_id
        params = {"p_principal": who, "p_time_zone": time_zone, "p_at": self._clock.now().isoformat()}
        changed = bool(self._db.rpc("desk_set_preference", params, read=False, returns=dict)["changed"])
        self._keep(who, time_zone)
        if changed:
            self._events.emit("PreferenceChanged", {"preference": "time_zone"}, collection="desk_preferences")
        return changed

    def _last(self) -> str | None:
        with self._lock:
            kept = self._kept.get(acting().principal_id)
        return kept[1] if kept else None

    def _keep(self, who: str, name: str | None) -> str | None:
        with self._lock:
            self._kept[who] = (self._now(), name)
            self._kept.move_to_end(who)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return name
