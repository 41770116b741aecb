"""The block of selected memory that reaches a prompt, character for character. Source: spec/memory.md section 5."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from core.memory.text import fold_lines

HEADER = "Selected vector memory chunks:"
_HUNDREDTH = Decimal("0.01")


class PromptRow(Protocol):
    """What a line is made of; a `Hit` has it. Dates are ISO text as the RPC returns them."""

    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def weighted_score(self) -> float: ...
    @property
    def note_date(self) -> str | None: ...
    @property
    def sent_at(self) -> str | None: ...


def prompt_block(rows: Iterable[PromptRow]) -> str:
    """The header and one numbered line a row, in the order given, no line break at the end; "" for no rows."""
    lines = [prompt_line(number, row) for number, row in enumerate(rows, start=1)]
    return "\n".join([HEADER, *lines]) if lines else ""


def prompt_line(number: int, row: PromptRow) -> str:
    """`1. [note; score=0.91; 2026-05-20] text`: the day of a note, else the time of a message, else no date."""
    facts = [row.source, f"score={two_decimals(row.weighted_score)}"]
    when = row.note_date or row.sent_at
    if when:
        facts.append(when)
    return f"{number}. [{'; '.join(facts)}] {fold_lines(row.text)}"


def two_decimals(value: float) -> str:
    """As JavaScript's `toFixed(2)`: the double's exact value, a half away from zero (1.005 is 1.00, 0.125 is 0.13)."""
    if value == 0:
        return "0.00"
    return str(Decimal(value).quantize(_HUNDREDTH, rounding=ROUND_HALF_UP))
