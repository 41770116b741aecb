"""Files of what a page shows: numbers stay numbers, formulas stay text, and the original comes back."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages._shared.export import guard, to_csv, to_json, unguard
from tests.support import planted

ROWS = [
    {"boost": -0.05, "delta": -1e-7, "text": "-2+3"},
    {"boost": 1.13, "delta": np.float64(-0.012), "text": "=1+1"},
    {"boost": None, "delta": float("nan"), "text": "Привіт, ʼсімʼя"},
]


def load(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_numbers_stay_numbers_and_unrounded() -> None:
    """No apostrophe before a minus sign of a number, no rounding; unknown and not-a-number are empty cells."""
    cells = load(to_csv(ROWS, ["boost", "delta", "text"]))
    assert cells[0] == ["boost", "delta", "text"]
    assert [float(x) for x in cells[1][:2]] == [-0.05, -1e-7]
    assert [float(x) for x in cells[2][:2]] == [1.13, -0.012]
    assert cells[3][:2] == ["", ""]


@pytest.mark.parametrize("text", ["-2+3", "=1+1", "+380 44", "@home", "\tx", "- milk", "\rx", "\n=1", "\uff1d1+1"])
def test_text_that_would_be_computed_is_guarded(text: str) -> None:
    """A spreadsheet takes the cell for text, and taking the apostrophe away gives the original."""
    assert load(to_csv([{"t": text}], ["t"]))[1] == [f"'{text}"]
    assert unguard(guard(text)) == text


@pytest.mark.parametrize("text", ["plain", "'quoted'", "a=1", "5-3", "", "’s"])
def test_nothing_else_is_altered(text: str) -> None:
    """Text that is no formula goes out as it is."""
    assert guard(text) == text


@given(st.text(alphabet="'=+-@\ta1", max_size=6))
def test_the_guard_is_reversible(text: str) -> None:
    """For every text: guarded, then unguarded, is the text; and a guarded cell never starts like a formula."""
    assert unguard(guard(text)) == text
    assert not guard(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_cyrillic_opens_intact() -> None:
    """The file says that it is UTF-8."""
    data = to_csv(ROWS, ["text"])
    assert data.startswith(b"\xef\xbb\xbf")
    assert load(data)[3] == ["Привіт, ʼсімʼя"]


def test_json_is_strict_and_holds_the_shown_columns_alone() -> None:
    """No NaN, no guard, no column that was not shown."""
    read = json.loads(to_json(ROWS, ["delta", "text"]))
    assert read[0] == {"delta": -1e-7, "text": "-2+3"}
    assert read[2]["delta"] is None


@pytest.mark.parametrize("text", [planted.SHORT, planted.LONG, planted.BLOCK, "a;=1+1", "a\t=1+1", 'a";=1+1'])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_begins_with_a_formula_whatever_separates_them(text: str, separator: str) -> None:
    """A spreadsheet of another country splits at semicolons: the text stays one cell, and comes back whole."""
    data = to_csv([{"t": text}], ["t"])
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=separator))
    assert [[unguard(cell) for cell in row] for row in rows] == [["t"], [text]]
    assert not rows[1][0].startswith(("=", "+", "-", "@"))
    assert json.loads(to_json([{"t": text}], ["t"])) == [{"t": text}]
