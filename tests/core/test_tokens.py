"""The token estimate."""

from __future__ import annotations

import pytest

from core.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("привіт", 2), ("😀😀", 1), ("😀😀a", 2), ("\ud800" * 5, 2)],
)
def test_units_over_four_rounded_up(text: str, tokens: int) -> None:
    """UTF-16 units / 4, rounded up: an emoji counts two, a Cyrillic letter one, half a pair one."""
    assert estimate_tokens(text) == tokens
