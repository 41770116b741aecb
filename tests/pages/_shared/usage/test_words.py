"""Money, tokens and changes in words: never 0 for what has no price, never rounded to nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from core.usage.pricing import Cost
from pages._shared.usage import words


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "$0"),
        ("0.0105", "$0.01050"),
        ("0.00000105", "$0.000001050"),
        ("1.23456", "$1.235"),
        ("12.3456", "$12.35"),
        ("12345.6", "$12,346"),
    ],
)
def test_four_significant_digits(amount: str, text: str) -> None:
    """Small sums keep their digits; whole dollars are never rounded away."""
    assert words.usd(Decimal(amount)) == text


def test_no_price_is_not_zero() -> None:
    """Tokens without a price say so; with some priced the sum is a lower bound."""
    assert words.cost(Cost(unpriced=5)) == "no price"
    assert words.cost(Cost(usd=Decimal("0.5"), priced=5, unpriced=5)) == "≥ $0.5000"
    assert words.cost(Cost(usd=Decimal("0.5"), priced=5)) == "$0.5000"
    assert words.cost(Cost(usd=Decimal("0.5"), priced=5, unattributed=405)) == "≥ $0.5000"
    assert "405 tokens are neither" in words.cost_help(Cost(priced=5, unattributed=405, as_output=Decimal("0.1")))


def test_tokens_and_changes() -> None:
    """Short above ten thousand; a change against nothing is none."""
    assert [words.tokens(n) for n in (0, 9_999, 12_400, 2_960_096_200)] == ["0", "9,999", "12.4k", "2,960.10M"]
    assert words.change(65, 100) == -35.0
    assert words.change(5, 0) is None
    assert words.change_text(-35.0) == "-35 %"


def test_names_in_a_chart() -> None:
    """Dollars stay; tags do not become tags."""
    assert words.in_chart("a$b$c") == "a$b$c"
    assert words.in_chart("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert words.in_chart("") == "(none)"
