"""The block that reaches a prompt, character for character."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory.prompt import prompt_block, prompt_line, two_decimals


@dataclass(frozen=True)
class Row:
    source: str
    text: str
    weighted_score: float
    note_date: str | None = None
    sent_at: str | None = None


def test_the_block_of_the_spec() -> None:
    """Header, numbers, source, score, day of a note else time of a message else nothing."""
    rows = [
        Row("note", "he worries\n  about trust", 0.9133, note_date="2026-05-20", sent_at="2026-01-01T00:00:00+00:00"),
        Row("conversation", "see you", 0.8555, sent_at="2026-05-21T09:12:00+00:00"),
        Row("profile", "Age: 34", 0.82),
    ]
    assert prompt_block(rows) == (
        "Selected vector memory chunks:\n"
        "1. [note; score=0.91; 2026-05-20] he worries about trust\n"
        "2. [conversation; score=0.86; 2026-05-21T09:12:00+00:00] see you\n"
        "3. [profile; score=0.82] Age: 34"
    )


def test_no_rows_no_block() -> None:
    """Nothing selected is an empty text, not a lonely header."""
    assert prompt_block([]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.005, "1.00"),
        (0.125, "0.13"),
        (0.375, "0.38"),
        (2.5, "2.50"),
        (1.45 + 0.18, "1.63"),
        (-0.125, "-0.13"),
        (-0.001, "-0.00"),
        (-0.0, "0.00"),
        (0.995, "0.99"),
        (1e-300, "0.00"),
        (10, "10.00"),
    ],
)
def test_two_decimals_are_javascripts(value: float, text: str) -> None:
    """As `toFixed(2)` rounds: the exact double, a half away from zero."""
    assert two_decimals(value) == text


@pytest.mark.parametrize("text", ["I paid $20, she paid $30 _and_ ~tip~ :red[x] #1 <b>", "a  b\tc", "[x; score=1]"])
def test_foreign_text_stays(text: str) -> None:
    """Nothing but line breaks is changed."""
    assert prompt_line(1, Row("note", text, 0.5)) == f"1. [note; score=0.50] {text}"


@given(st.lists(st.text(max_size=80), max_size=12))
def test_one_line_a_row(texts: list[str]) -> None:
    """Whatever the texts hold, no row can pretend to be two."""
    block = prompt_block([Row("note", text, 0.5) for text in texts])
    assert len(block.splitlines()) == (len(texts) + 1 if texts else 0)
