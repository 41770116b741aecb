"""When a mission runs next. A local time that a change of clocks skips runs right after the gap, one that comes twice
runs at its first coming: exactly one run for each local date. Source: spec/companion.md, MI-2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, CroniterError, croniter

from core.errors import InputError

Kind = Literal["manual", "interval", "daily", "weekly", "cron"]
MINUTES = (5, 525_600)
# Numbers, names of months and days, ranges, steps and lists, as every cron has them. No seconds, no @words, no H, no R.
_FIELD = re.compile(r"(?:\d{1,2}|[A-Za-z]{3}|\*)(?:-(?:\d{1,2}|[A-Za-z]{3}))?(?:/\d{1,2})?(?:,[\dA-Za-z*/-]+)*")


@dataclass(frozen=True)
class Cadence:
    """`weekday` counts from Monday 0. Only the fields of the kind are set."""

    kind: Kind = "manual"
    minutes: int | None = None
    hour: int | None = None
    minute: int = 0
    weekday: int | None = None
    cron: str | None = None

    def next_after(self, moment: datetime, zone: ZoneInfo) -> datetime | None:
        """The first run strictly after `moment` (aware), in UTC; None for manual and for a cron that never comes."""
        if self.kind == "manual":
            return None
        if self.kind == "interval":
            assert self.minutes is not None
            return moment.astimezone(UTC) + timedelta(minutes=self.minutes)
        # From a little before: the wall clock may stand earlier than the instant it names.
        start = moment.astimezone(zone).replace(tzinfo=None) - timedelta(hours=3)
        for wall in self._walls(start):
            instant = first_instant(wall, zone)
            if instant > moment:
                return instant
        return None

    def upcoming(self, moment: datetime, zone: ZoneInfo, number: int = 3) -> tuple[datetime, ...]:
        """The next runs in UTC, for whoever sets it up: so that the 31st surprises nobody."""
        found: list[datetime] = []
        at: datetime | None = moment
        while at is not None and len(found) < number:
            at = self.next_after(at, zone)
            if at is not None:
                found.append(at)
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """What is stored."""
        fields = ("kind", "minutes", "hour", "minute", "weekday", "cron")
        return {name: getattr(self, name) for name in fields if getattr(self, name) is not None}

    def _walls(self, start: datetime) -> Iterator[datetime]:
        """Wall-clock times from `start` on, in order, without a zone."""
        if self.kind == "cron":
            times = croniter(self.cron, start, max_years_between_matches=8)
            while True:
                try:
                    yield times.get_next(datetime)
                except CroniterBadDateError:
                    return
        day: date = start.date()
        while True:
            if self.kind == "daily" or day.weekday() == self.weekday:
                yield datetime.combine(day, time(self.hour or 0, self.minute))
            day += timedelta(days=1)


def first_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant in UTC at which a clock in `zone` first shows `wall` or, where it never does, first passes it."""
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    shown = instant.astimezone(zone).replace(tzinfo=None)
    if shown == wall:
        return instant
    # In a gap: fold=0 reads the clock of before, so the instant lies behind the gap by as much as the wall was in it.
    before = wall.replace(tzinfo=zone, fold=0).utcoffset()
    after = wall.replace(tzinfo=zone, fold=1).utcoffset()
    assert before is not None and after is not None
    low, high = instant - timedelta(hours=3), instant
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def read_cadence(raw: Mapping[str, Any]) -> Cadence:
    """A cadence from a form or a row. Errors: InputError naming the field."""
    kind = raw.get("kind", "manual")
    if kind == "manual":
        return Cadence()
    if kind == "interval":
        return Cadence("interval", minutes=_whole(raw, "minutes", *MINUTES))
    if kind == "daily":
        return Cadence("daily", hour=_whole(raw, "hour", 0, 23), minute=_whole(raw, "minute", 0, 59, 0))
    if kind == "weekly":
        return Cadence(
            "weekly",
            hour=_whole(raw, "hour", 0, 23),
            minute=_whole(raw, "minute", 0, 59, 0),
            weekday=_whole(raw, "weekday", 0, 6),
        )
    if kind == "cron":
        return Cadence("cron", cron=_cron(raw.get("cron")))
    raise InputError("A cadence is manual, interval, daily, weekly or cron.", field="cadence.kind")


def _whole(raw: Mapping[str, Any], name: str, low: int, high: int, default: int | None = None) -> int:
    value = raw.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"It is a whole number from {low:,} to {high:,}.", field=f"cadence.{name}")
    return value


def _cron(value: Any) -> str:
    fields = value.split() if isinstance(value, str) else []
    if len(fields) != 5 or not all(_FIELD.fullmatch(one) for one in fields):
        raise InputError(
            "A cron has five fields: minute, hour, day of the month, month, day of the week.", field="cadence.cron"
        )
    expression = " ".join(fields)
    try:
        first = croniter(expression, datetime(2026, 1, 1), max_years_between_matches=8)
        one, two = first.get_next(datetime), first.get_next(datetime)
    except CroniterBadDateError:
        raise InputError("That day never comes.", field="cadence.cron") from None
    except (CroniterError, ValueError):
        raise InputError("A field of the cron is out of range.", field="cadence.cron") from None
    if two - one < timedelta(minutes=MINUTES[0]):
        raise InputError(f"A mission runs at most every {MINUTES[0]} minutes.", field="cadence.cron")
    return expression
