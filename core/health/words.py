"""Numbers in sentences of the report. Pure."""

from __future__ import annotations


def these(number: int, one: str, many: str) -> str:
    """`1 pair has`, `2 pairs have`: the number with the words that go with it."""
    return f"{number:,} {one if number == 1 else many}"
