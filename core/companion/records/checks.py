"""What a field of a record may hold; each check names its field. Errors: InputError."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.errors import InputError

TITLE_LIMIT = 200
TEXT_LIMIT = 4000
_FIRST, _LAST = date(1900, 1, 1), date(2200, 1, 1)


def title(value: Any, field: str) -> str:
    """One line of 1 to 200 characters."""
    line = _words(value, field)
    if not _visible(line):
        raise InputError(f"{field} is empty.", field=field)
    if len(line) > TITLE_LIMIT:
        raise InputError(f"{field} is longer than {TITLE_LIMIT} characters.", field=field)
    return line


def text(value: Any, field: str) -> str | None:
    """Free text with its line breaks, or None."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{field} is no text.", field=field)
    kept = "".join(c for c in value if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs")).strip()
    if len(kept) > TEXT_LIMIT:
        raise InputError(f"{field} is longer than {TEXT_LIMIT} characters.", field=field)
    return kept if _visible(kept) else None


def choice(value: Any, field: str, among: Collection[str]) -> str:
    if not isinstance(value, str) or value not in among:
        raise InputError(f"{field} is one of {', '.join(among)}.", field=field)
    return value


def amount(value: Any, field: str, *, least: float = 0, most: float = 1_000_000, above: bool = False) -> float:
    """A finite number from `least` (`above`: more than that) to `most`; zero is a value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError(f"{field} is no number.", field=field)
    if value > most or value < least or (above and value == least):
        bound = f"above {least:g}" if above else f"from {least:g}"
        raise InputError(f"{field} is a number {bound} to {most:g}.", field=field)
    return float(value)


def day(value: Any, field: str) -> date:
    """A local day, as a date or as YYYY-MM-DD."""
    try:
        if isinstance(value, datetime):
            raise ValueError
        found = value if isinstance(value, date) else date.fromisoformat(value)
        if len(value if isinstance(value, str) else "YYYY-MM-DD") != 10 or not _FIRST <= found <= _LAST:
            raise ValueError
    except (ValueError, TypeError):
        raise InputError(f"{field} is no date of the form YYYY-MM-DD.", field=field) from None
    return found


def moment(value: Any, field: str, zone: ZoneInfo) -> datetime:
    """An instant, as such or as ISO text; without an offset it is taken in `zone`."""
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (ValueError, TypeError):
        raise InputError(f"{field} is no time of the form YYYY-MM-DDTHH:MM.", field=field) from None
    if not _FIRST <= at.date() <= _LAST:
        raise InputError(f"{field} is out of range.", field=field)
    return at if at.tzinfo else at.replace(tzinfo=zone)


def date_of(value: Any, field: str) -> date:
    """The date as it is written in a date or a time, whatever its offset: an all-day date has no zone."""
    if isinstance(value, datetime):
        return day(value.date(), field)
    return day(value[:10] if isinstance(value, str) and value[10:11] in ("T", " ") else value, field)


def _visible(text: str) -> bool:
    """Is there more than spaces, marks and signs of width zero?"""
    return any(unicodedata.category(c)[0] not in "CZM" for c in text)


def _words(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{field} is no text.", field=field)
    return " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in value).split())
