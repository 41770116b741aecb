"""Files of what a page shows: CSV for spreadsheets, JSON for machines. Pure.

Text that a spreadsheet would compute (first character = + - @, a tab or the end of a line) gets an apostrophe in
front; a text that begins with apostrophes before such a character gets one more, so that taking one away gives the
original back. Numbers are never touched.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

BOM = "\ufeff"  # without it Excel reads UTF-8 as the local code page
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four: full width


def guard(text: str) -> str:
    """The text as a spreadsheet may have it."""
    bare = text.lstrip("'")
    return f"'{text}" if bare.startswith(STARTS) else text


def unguard(text: str) -> str:
    """The original of a guarded cell."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(STARTS) else text


def to_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """UTF-8 with a byte-order mark, CRLF, a header line; numbers unrounded."""
    out = io.StringIO()
    # Texts in quotes: where a semicolon or a tab separates cells, what follows one inside a text would be a new cell.
    writer = csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows([[_cell(row.get(column)) for column in columns] for row in rows])
    return (BOM + out.getvalue()).encode()


def to_json(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    picked = [{column: _plain(row.get(column)) for column in columns} for row in rows]
    return json.dumps(picked, ensure_ascii=False, indent=1, allow_nan=False).encode()


def _plain(value: Any) -> Any:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "item"):
        return _plain(value.item())
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else str(value)


def _cell(value: Any) -> Any:
    plain = _plain(value)
    if isinstance(plain, list):
        plain = ", ".join(str(v) for v in plain)
    return guard(plain) if isinstance(plain, str) else plain
