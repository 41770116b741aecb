"""Streaks: days on which something held, kept up by events. Source: spec/companion.md, ST-1 to ST-6."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import StreakDef
from core.companion.reflect.days import local_today
from core.companion.reflect.measures import as_json
from core.companion.reflect.standing import Streak, shown, zone_note
from core.db.client import Database
from core.events.actor import run_as, system
from core.events.emitter import Events

__all__ = ["Streak", "Streaks"]

log = logging.getLogger(__name__)

REBUILD_DAYS = 90
SOURCE = {"source": "streaks"}


class Streaks:
    """Thread-safe; one per process, any number of processes: what they write is the same whoever writes it.

    The log of events is read from where the last reader stopped, so no event is missed and none counts twice.
    """

    def __init__(
        self, db: Database, events: Events, clock: Clock, zone: ZoneInfo, definitions: Sequence[StreakDef]
    ) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._zone = zone
        self._defs = {definition.id: definition for definition in definitions}
        self._lock = threading.Lock()
        self._zone_state: Mapping[str, Any] | None = None

    def all(self) -> tuple[Streak, ...]:
        """Every streak as of now, in the order of their definition. Errors: DatabaseError."""
        self.settle()
        answer = self._db.rpc("companion_streak_list", {}, read=True, returns=dict)
        rows = {row["id"]: row for row in answer["streaks"]}
        if self._defs.keys() - rows.keys():
            self._seed([known for known in self._defs.values() if known.id not in rows])
            answer = self._db.rpc("companion_streak_list", {}, read=True, returns=dict)
            rows = {row["id"]: row for row in answer["streaks"]}
        today = local_today(self._clock, self._zone)
        note = zone_note(answer.get("zone") or {}, today)
        return tuple(shown(known, rows.get(known.id, {}), today, note) for known in self._defs.values())

    def settle(self) -> int:
        """Judge the days that events since the last time are about, and days that are over now; how many events.

        Errors: DatabaseError.
        """
        self._events.drain.flush(2.0)
        seen = 0
        with self._lock, run_as(system("projection")):
            mark = self._mark()
            today = local_today(self._clock, self._zone)
            if date.fromisoformat(mark["day"]) < today:
                self._close_days(date.fromisoformat(mark["day"]), today)
                mark = self._set_mark(mark["seq"], today)
            while True:
                answer = self._changes(mark["seq"])
                if answer["seq"] == mark["seq"]:
                    return seen
                self._judge_changed(answer["types"])
                seen += answer["seq"] - mark["seq"]
                mark = self._set_mark(answer["seq"], today)
                if answer["seq"] >= answer["head"]:
                    return seen

    def rebuild(self, days: int = REBUILD_DAYS) -> dict[str, int]:
        """Judge that many days anew from the log, today included: {streaks, failed}. Errors: DatabaseError."""
        today = local_today(self._clock, self._zone)
        failed = 0
        with self._lock, run_as(system("projection")):
            for known in self._defs.values():
                failed += not self._judge(known, today - timedelta(days=days - 1), today)
        return {"streaks": len(self._defs), "failed": failed}

    def history(self, id: str, since: date) -> list[dict[str, Any]]:
        """The judged days from `since` on: [{day, value, threshold, active}]. Errors: DatabaseError."""
        params = {"p_id": id, "p_since": since.isoformat()}
        return self._db.rpc("companion_streak_history", params, read=True, returns=list)

    def _mark(self) -> Mapping[str, Any]:
        found = self._db.sample("companion_cursors", "source,watermark", order="source", limit=1, where=SOURCE)
        if found:
            return found[0]["watermark"]
        # The first time: from the log as it stands, not event by event.
        head = int(self._changes(0, limit=1)["head"])
        self._seed(tuple(self._defs.values()), locked=True)
        return self._set_mark(head, local_today(self._clock, self._zone))

    def _set_mark(self, seq: int, day: date) -> Mapping[str, Any]:
        mark = {"seq": seq, "day": day.isoformat()}
        self._db.rpc("companion_set_cursor", {"p_source": "streaks", "p_watermark": mark}, read=False)
        return mark

    def _seed(self, streaks: Sequence[StreakDef], *, locked: bool = False) -> None:
        today = local_today(self._clock, self._zone)
        with nullcontext() if locked else self._lock, run_as(system("projection")):
            for known in streaks:
                self._judge(known, today - timedelta(days=REBUILD_DAYS - 1), today)

    def _close_days(self, since: date, today: date) -> None:
        for known in self._defs.values():
            if known.closing or known.daily:
                self._judge(known, since - timedelta(days=1), today)

    def _changes(self, after: int, limit: int = 5000) -> dict[str, Any]:
        fields = sorted({d.measure.day_field for d in self._defs.values() if d.measure.day_field})
        params = {"p_after": after, "p_tz": self._zone.key, "p_fields": fields, "p_limit": limit}
        return self._db.rpc("companion_changes", params, read=True, returns=dict)

    def _judge_changed(self, types: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        for known in self._defs.values():
            measure = known.measure
            concerned = {*measure.events, *measure.minus, *measure.unless} & types.keys()
            days = {day for name in concerned for found in types[name].values() for day in found}
            for first, last in _spans({date.fromisoformat(day) for day in days}):
                self._judge(known, first, last)

    def _judge(self, known: StreakDef, first: date, last: date) -> bool:
        """Whether it could be judged: a goal or a figure that is not to be had is another module's fault."""
        today = local_today(self._clock, self._zone)
        changes = self._zone_changes()
        not_before = None
        bridges = [_first_counted(change, known.id) for change in changes]
        if changes and known.measure.day_field is None:
            first = max(first, bridges[-1])
            not_before = changes[-1]["at"]
        last = min(last, today - timedelta(days=known.closing))
        if first > last:
            return True
        try:
            goal = known.threshold() if callable(known.threshold) else known.threshold
            values = None
            if known.daily:
                values = {d.isoformat(): v for d, v in known.daily(first, last).items() if first <= d <= last}
        except Exception as bug:
            log.warning("streak %s was not judged (%s)", known.id, type(bug).__name__)
            return False
        self._db.rpc(
            "companion_refresh_streak",
            {
                "p_streak": {"id": known.id, "module": known.module, "label": known.label, "grace": known.grace},
                "p_measure": as_json(known.measure),
                "p_values": values,
                "p_since": first.isoformat(),
                "p_until": last.isoformat(),
                "p_today": today.isoformat(),
                "p_tz": self._zone.key,
                "p_threshold": float(goal),
                "p_comparison": known.comparison,
                "p_not_before": not_before,
                "p_bridges": [day.isoformat() for day in bridges],
            },
            read=False,
        )
        return True

    def _zone_changes(self) -> Sequence[Mapping[str, Any]]:
        if self._zone_state is None:
            params = {"p_tz": self._zone.key, "p_now": self._clock.now().isoformat()}
            self._zone_state = self._db.rpc("companion_set_zone", params, read=False, returns=dict)
        return self._zone_state["changes"]


def _first_counted(change: Mapping[str, Any], streak_id: str) -> date:
    """The first day that is counted in the zone changed to."""
    since = date.fromisoformat(change["since"])
    last = change["lasts"].get(streak_id)
    return max(since, date.fromisoformat(last) + timedelta(days=1)) if last else since


def _spans(days: set[date]) -> list[tuple[date, date]]:
    """Runs of days not far apart: one question for a week of entries, and none for the months between two."""
    spans: list[tuple[date, date]] = []
    for day in sorted(days):
        if spans and (day - spans[-1][1]).days <= 7:
            spans[-1] = (spans[-1][0], day)
        else:
            spans.append((day, day))
    return spans
