"""Folding, cutting and what counts as empty."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory.text import cut, fold, fold_lines, is_blank, is_unstorable, scalar, storable, units


@pytest.mark.parametrize(
    "invisible", ["", " \t\n", "\u200b", "\u2060\ufe0f", "\u3000", "\u00ad", "\ufeff", "\u200e\u202e", "\u3164", "\0"]
)
def test_invisible_is_blank(invisible: str) -> None:
    """White space, format characters and fillers show nothing."""
    assert is_blank(invisible)


@pytest.mark.parametrize("visible", ["a", "\u200bя", "❤\ufe0f", "שלום", "👩\u200d👩\u200d👧", "Z\u0351\u036b\u0343"])
def test_visible_is_not_blank(visible: str) -> None:
    """Joined emoji, right-to-left text and zalgo are texts."""
    assert not is_blank(visible)


def test_fold_is_javascripts() -> None:
    """Every space that JavaScript's \\s knows becomes one space; format characters inside a text stay."""
    assert fold(" a\u00a0\u3000b\r\n\tc\ufeff ") == "a b c"
    assert fold("a\u200bb") == "a\u200bb"
    assert fold("a b c") == "a b c"


def test_fold_lines_keeps_other_spacing() -> None:
    """Only line breaks go, with what stands around them."""
    assert fold_lines("a  b \r\n  c\u2028d\n") == "a  b c d"


def test_storable() -> None:
    """NUL and half pairs go, halves side by side become the character they mean."""
    assert storable("a\0b\ud800c\udc00") == "abc"
    assert storable("\ud83d\ude00") == "😀"
    assert is_unstorable("\0") and is_unstorable("я\udfff") and not is_unstorable("я") and not is_unstorable(5)


def test_cut_counts_utf16_and_breaks_no_character() -> None:
    """An emoji counts two; where only half of one fits, none of it stays; no space at the end."""
    assert units("😀a") == 3
    assert cut("ab😀", 3) == "ab"
    assert cut("ab😀", 4) == "ab😀"
    assert cut("ab cd", 3) == "ab"
    assert cut("😀" * 300, 420) == "😀" * 210


@given(st.text(), st.integers(1, 50))
def test_cut_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    """Cutting gives a beginning of the text of at most the limit, and cutting again changes nothing."""
    text = storable(text)
    short = cut(text, limit)
    assert text.startswith(short) and units(short) <= limit
    assert cut(short, limit) == short


@given(st.text(alphabet=st.characters(categories=None)))
def test_storable_is_always_utf8(text: str) -> None:
    """Whatever comes, what is stored can be encoded and holds no NUL."""
    assert b"\0" not in storable(text).encode("utf-8")


def test_scalar() -> None:
    """Numbers as JavaScript writes them; booleans, NaN and containers are none."""
    assert [scalar(v) for v in (34, 34.0, 34.5, " x ", 1e21, -0.0)] == ["34", "34", "34.5", "x", "1e+21", "0"]
    unusable = [True, None, float("nan"), float("inf"), [], {}, "", " \u200b", 10**5000, b"x"]
    assert [scalar(v) for v in unusable] == [None] * len(unusable)
