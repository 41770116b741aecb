"""Ranges of time and their buckets, on the clock of one zone and never after now. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.errors import InputError

LONGEST_DAYS = 400
LONGEST_BY_HOUR_DAYS = 92


@dataclass(frozen=True)
class Period:
    """From `start` on and before `end`, both in UTC."""

    start: datetime
    end: datetime

    @property
    def days(self) -> float:
        return (self.end - self.start).total_seconds() / 86_400


def last_days(days: int, now: datetime, zone: ZoneInfo) -> Period:
    """Today and the days before it, `days` in all, up to now."""
    return since_day(now.astimezone(zone).date() - timedelta(days - 1), now, zone)


def since_day(day: date, now: datetime, zone: ZoneInfo) -> Period:
    return Period(midnight(day, zone), now)


def of_days(first: date, last: date, now: datetime, zone: ZoneInfo) -> Period:
    """Whole days, both included, cut at now. Errors: InputError where they are the wrong way round or too many."""
    if last < first:
        raise InputError("The range ends before it begins.", field="to")
    if (last - first).days >= LONGEST_DAYS:
        raise InputError(f"The range is longer than {LONGEST_DAYS} days.", field="from")
    start = midnight(first, zone)
    return Period(start, max(start, min(midnight(last + timedelta(1), zone), now)))


def before(period: Period, zone: ZoneInfo) -> Period:
    """The period before: as many days, up to the same time of day, so that an unfinished day is compared fairly."""
    first, last = period.start.astimezone(zone), period.end.astimezone(zone)
    days = (last.date() - first.date()).days + (1 if last.time() > time(0) else 0)
    back = timedelta(max(1, days))
    return Period(_moved(first, back, zone), _moved(last, back, zone))


def midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first instant of a local day, in UTC."""
    return datetime.combine(day, time(0), zone).astimezone(UTC)


def day_buckets(period: Period, zone: ZoneInfo) -> list[str]:
    """Every local day of the period as ISO text, none of them after its end."""
    first = period.start.astimezone(zone).date()
    last = (period.end - timedelta(microseconds=1)).astimezone(zone).date()
    return [(first + timedelta(n)).isoformat() for n in range((last - first).days + 1)]


def hour_buckets(period: Period, zone: ZoneInfo) -> list[str]:
    """Every UTC hour of the period as it reads on the local clock; the hour that exists twice names its offset."""
    hour = period.start.replace(minute=0, second=0, microsecond=0)
    found = []
    while hour < period.end:
        found.append(hour_label(hour, zone))
        hour += timedelta(hours=1)
    return found


def hour_label(hour: datetime, zone: ZoneInfo) -> str:
    """`2026-11-30 14:00`; with `+02:00` behind it where that hour exists twice."""
    local = hour.astimezone(zone)
    twice = local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset()
    return f"{local:%Y-%m-%d %H:%M}{f'{local:%z}'[:3] + ':' + f'{local:%z}'[3:5] if twice else ''}"


def parse_bound(value: str | None, zone: ZoneInfo, field: str, *, end: bool) -> datetime | None:
    """A day (of the zone; as an end it is included) or an instant of ISO text, which without a zone is local.

    Errors: InputError naming the field.
    """
    if not value or not value.strip():
        return None
    text = value.strip()
    try:
        if len(text) <= 10:
            return midnight(date.fromisoformat(text) + timedelta(1 if end else 0), zone)
        # A plus sign in a query that was not encoded arrives as a space.
        written = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
        return (written if written.tzinfo else written.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputError(
            f"{field} is neither a day nor a moment.", hint="Send 2026-11-30 or 2026-11-30T10:00:00Z.", field=field
        ) from None


def parse_period(start: str | None, end: str | None, now: datetime, zone: ZoneInfo) -> Period:
    """A range as the API and the command line take it: by default the last 30 days, up to now.

    Errors: InputError naming `from` or `to`.
    """
    last = parse_bound(end, zone, "to", end=True) or now
    first = parse_bound(start, zone, "from", end=False) or last_days(30, last, zone).start
    if last <= first:
        raise InputError("The range ends before it begins.", field="to")
    if (last - first).days > LONGEST_DAYS:
        raise InputError(f"The range is longer than {LONGEST_DAYS} days.", field="from")
    return Period(first, last)


def _moved(local: datetime, back: timedelta, zone: ZoneInfo) -> datetime:
    return (local.replace(tzinfo=None) - back).replace(tzinfo=zone).astimezone(UTC)
