"""Numbers, times and keys as the pages show them. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from datetime import UTC, date, datetime
from typing import TypeVar
from zoneinfo import ZoneInfo

K = TypeVar("K", bound=Hashable)
STEPS = ((60, "s"), (60, "min"), (24, "h"), (60, "d"))


def count(number: int | float | None) -> str:
    """Grouped by thousands: 12,345; a dash where nothing is known."""
    return "–" if number is None else f"{number:,.0f}"


def short(number: int) -> str:
    """Tokens: 12.4k from ten thousand on, exact below."""
    return f"{number / 1000:.1f}k" if number >= 10_000 else f"{number:,}"


def score(number: float | None) -> str:
    return "–" if number is None else f"{number:.3f}"


def signed(number: float) -> str:
    """A boost or a difference: +0.180; a zero has no sign."""
    return "0.000" if round(number, 3) == 0 else f"{number:+.3f}"


def event(name: str) -> str:
    """The name of an event as words: DialogIngested is "Dialog ingested"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return words[:1] + words[1:].lower()


def milliseconds(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:.1f} ms" if number < 10 else f"{number:,.0f} ms"


def moment(at: datetime | date | None, zone: ZoneInfo) -> str:
    """The exact moment in the zone of the settings: 2026-11-30 14:02:10; a plain day stays a day."""
    if at is None:
        return "–"
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M:%S}" if isinstance(at, datetime) else at.isoformat()


def clock(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%H:%M:%S}"


def parse(at: str | datetime | None) -> datetime | None:
    """An instant as the database writes it; None for none. A value without a zone counts as UTC."""
    if not at:
        return None
    given = at if isinstance(at, datetime) else datetime.fromisoformat(at)
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def ago(at: datetime | None, now: datetime) -> str:
    """5 s ago, 3 h ago, 12 d ago; from 60 days on the day itself. The future is said as it is."""
    if at is None:
        return "never"
    left = (now - at).total_seconds()
    tail, left = ("ago", left) if left >= 0 else ("from now", -left)
    for size, unit in STEPS:
        if left < size:
            return "now" if unit == "s" and left < 1 else f"{int(left)} {unit} {tail}"
        left /= size
    return f"{at:%Y-%m-%d}"


def day(at: str | None) -> date | None:
    """The day of a date as the database writes it; None for none."""
    return date.fromisoformat(at[:10]) if at else None


def days_ago(at: date | None, today: date) -> str:
    """today, 1 d ago, 12 d ago; from 60 days on the day itself."""
    if at is None:
        return "never"
    days = (today - at).days
    if days == 0:
        return "today"
    return at.isoformat() if days >= 60 else f"{days} d ago" if days > 0 else f"{-days} d from now"


def key(dialog_key: str) -> str:
    """A dialog key by its first eight characters when it is a hash, else cut to 24 characters."""
    if re.fullmatch(r"[0-9a-f]{64}", dialog_key):
        return f"{dialog_key[:8]}…"
    return dialog_key if len(dialog_key) <= 24 else f"{dialog_key[:23]}…"


def pair(ru_id: str | None, tu_id: str | None) -> str:
    return f"RU {ru_id or 'unknown'} · TU {tu_id or 'unknown'}"


def snippet(text: str, length: int = 90) -> str:
    """One line of a text, white space folded, cut with an ellipsis: for lists, never instead of the text itself."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def plural(number: int, one: str, many: str | None = None) -> str:
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def apart(names: Mapping[K, str]) -> dict[K, str]:
    """The names with a number behind each that was there before: of a choice the browser sends the words back, so that
    of two alike the first would always be the one chosen."""
    seen: Counter[str] = Counter()
    found: dict[K, str] = {}
    taken = set(names.values())
    for key, name in names.items():
        seen[name] += 1
        while seen[name] > 1 and f"{name} ({seen[name]})" in taken:
            seen[name] += 1
        found[key] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return found
