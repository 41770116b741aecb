"""One field of a line of a file of labels: checked, or refused by line and name. Pure."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.errors import InputError

LINES_MOST = 50_000
BYTES_MOST = 20_000_000


def lines(text: str) -> list[tuple[int, str]]:
    """Numbered from 1, empty ones left out; a byte-order mark and CRLF are no content."""
    if len(text) > BYTES_MOST:
        raise InputError(f"The file has more than {BYTES_MOST:,} characters.", field="file")
    # Not splitlines: a text may hold U+2028, which JSON allows inside a string.
    found = [(n, line.strip("\r\t ")) for n, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1)]
    found = [(n, line) for n, line in found if line]
    if len(found) > LINES_MOST:
        raise InputError(f"The file has more than {LINES_MOST:,} lines.", field="file")
    if not found:
        raise InputError("The file holds no line.", field="file")
    return found


def object_of(line: str, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise bad(number, "line", "is no JSON") from None
    if not isinstance(row, dict):
        raise bad(number, "line", "is no object")
    return row


def _refuse(_: str) -> Any:
    raise ValueError("no number")


def only(row: Mapping[str, Any], known: set[str], line: int) -> None:
    unknown = sorted(set(row) - known)
    if unknown:
        raise bad(line, unknown[0][:40], "is not a field of this type")


def text(row: Mapping[str, Any], name: str, line: int, limit: int, *, needed: bool = True) -> Any:
    value = row.get(name)
    if value is None and not needed:
        return None
    if not isinstance(value, str) or (needed and not value.strip()):
        raise bad(line, name, "is missing" if value is None else "is no text")
    if len(value) > limit:
        raise bad(line, name, f"is longer than {limit:,} characters")
    if "\x00" in value or any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise bad(line, name, "holds what cannot be stored")
    return value or None


def grade(value: Any, line: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 3:
        raise bad(line, "grade", "is not 0, 1, 2 or 3")
    return value


def uuid_of(value: str, line: int, name: str) -> str:
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise bad(line, name, "is no id") from None


def digest(row: Mapping[str, Any], name: str, line: int) -> str | None:
    value = text(row, name, line, 64, needed=False)
    if value is not None and (len(value) != 64 or not set(value) <= set("0123456789abcdef")):
        raise bad(line, name, "is no SHA-256 in hex")
    return value if value is None else str(value)


def moment(row: Mapping[str, Any], line: int) -> str | None:
    value = text(row, "at", line, 40, needed=False)
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise bad(line, "at", "is no ISO date and time") from None
    if at.tzinfo is None:
        raise bad(line, "at", "has no time zone")
    return at.isoformat()


def once(seen: dict[tuple[Any, ...], int], key: tuple[Any, ...], line: int, field: str) -> None:
    if key in seen:
        raise bad(line, field, f"stands in line {seen[key]} already")
    seen[key] = line


def bad(line: int, field: str, what: str) -> InputError:
    return InputError(
        f"Line {line}, {field}: {what}.", hint="Nothing was imported. Mend the line and import again.", field=field
    )
