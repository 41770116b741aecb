"""Instants and days out of what upstream sends: ISO text with or without zone, epoch seconds or milliseconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from core.memory.text import scalar

ASSUMED_ZONE = "UTC"

_NUMBER = re.compile(r"\d{1,15}(\.\d+)?", re.ASCII)
_BASIC_DATE = re.compile(r"(19|20)\d{6}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST_S = 100_000_000  # March 1973: a smaller number is an id, a year or a mistake rather than an instant
_SECONDS_END = 100_000_000_000  # the year 5138 in seconds, March 1973 in milliseconds
_MILLIS_END = 100_000_000_000_000

Item = TypeVar("Item")


@dataclass(frozen=True)
class Moment:
    """An instant in UTC; `day` is the calendar day as written, whatever the zone.

    `zoned`: the zone was written (an epoch number has one). `day_only`: no time of day was written.
    """

    at: datetime
    day: date
    zoned: bool
    day_only: bool = False

    @property
    def iso(self) -> str:
        """ISO text in UTC, `2026-05-21T09:12:00+00:00`."""
        return self.at.isoformat()


def parse_moment(value: Any) -> Moment | None:
    """The instant a value names, or None. Text without a zone is taken as UTC. Never raises.

    Eight digits are a day (`20260520`); 9 to 11 digits are epoch seconds, 12 to 14 milliseconds.
    """
    text = scalar(value)
    if text is None:
        return None
    if _NUMBER.fullmatch(text) and not _BASIC_DATE.fullmatch(text):
        return _from_epoch(float(text))
    try:
        written = datetime.fromisoformat(text)
        at = written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return Moment(at, written.date(), written.tzinfo is not None, _is_day(text))


def in_time_order(items: Sequence[Item], moments: Sequence[datetime | None]) -> list[Item]:
    """Dated items sorted by time, stable, over the places of the dated; an undated item keeps its index in the list."""
    dated = [i for i, at in enumerate(moments) if at is not None]
    by_time = sorted(dated, key=lambda i: moments[i] or _EPOCH)
    result = list(items)
    for place, index in zip(dated, by_time, strict=True):
        result[place] = items[index]
    return result


def _from_epoch(number: float) -> Moment | None:
    if not _EARLIEST_S <= number < _MILLIS_END:
        return None
    seconds = number if number < _SECONDS_END else number / 1000
    at = _EPOCH + timedelta(seconds=seconds)
    return Moment(at, at.date(), zoned=True)


def _is_day(text: str) -> bool:
    return len(text) <= 10 and ":" not in text and "T" not in text.upper()
