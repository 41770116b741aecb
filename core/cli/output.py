"""What a command prints: lines for people, one JSON value for machines."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any

from core.errors import CoreError


class UsageError(Exception):
    """Arguments that argparse accepts and the command does not."""


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


def print_error(error: CoreError, *, as_json: bool) -> None:
    """What happened, what to do; with --json the API's form of error, on stdout."""
    if as_json:
        print_json({"error": error_json(error)})
        return
    print(f"Failed: {one_line(error.what)}", file=sys.stderr)
    for line in error.hint.splitlines():
        print(f"  {printable(line)}", file=sys.stderr)


def error_json(error: CoreError) -> dict[str, Any]:
    parts = {"code": error.code, "message": error.what, "field": error.field, "hint": error.hint}
    return {name: value for name, value in parts.items() if value}


def one_line(text: str, width: int | None = None) -> str:
    """Text of unknown origin for a terminal: folded, nothing that moves the cursor, cut with an ellipsis."""
    line = printable(" ".join(text.split()))
    return line if width is None or len(line) <= width else line[: width - 1] + "…"


def printable(text: str) -> str:
    """Control characters, and those that reorder a line, become U+FFFD; joiners inside words and emoji stay."""
    return "".join("\ufffd" if _moves(c) else c for c in text)


def _moves(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or "\u202a" <= character <= "\u202e"
        or "\u2066" <= character <= "\u2069"
    )
