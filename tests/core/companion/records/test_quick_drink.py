"""One line about a drink."""

from __future__ import annotations

import pytest

from core.companion.records.drinks import TYPES
from core.companion.records.quick_drink import USUAL_ML, drink
from core.errors import InputError


@pytest.mark.parametrize(
    ("text", "kind", "ml", "name"),
    [
        ("250 water", "water", 250, None),
        ("water", "water", 250, None),
        ("Coffee", "coffee", 200, None),
        ("2 coffee", "coffee", 400, None),
        ("0,5 l beer", "beer", 500, None),
        ("1.5l water", "water", 1500, None),
        ("33 cl soda", "soda", 330, None),
        ("glass of water", "water", 250, None),
        ("2 bottles of water", "water", 1000, None),
        ("300 green tea", "tea", 300, "green tea"),
        ("250 kefir", "other", 250, "kefir"),
        ("alcohol 40", "other", 40, "alcohol"),
        ("1,500 ml water", "water", 1500, None),
        ("1.500 water", "water", 1500, None),
        ("1.500 l water", "water", 1500, None),
        ("0,250 l water", "water", 250, None),
    ],
)
def test_lines(text: str, kind: str, ml: int, name: str | None) -> None:
    """Amount with or without its unit, small numbers as cups, vessels, names of one's own."""
    found = drink(text)
    assert (found.drink_type, found.quantity_ml, found.name) == (kind, ml, name)


def test_said() -> None:
    """What was understood, before it is written."""
    assert drink("300 green tea").says() == "Drink: 300 ml tea (green tea)"


def test_every_kind_has_a_usual_size() -> None:
    """So that a name alone is enough."""
    assert set(USUAL_ML) == set(TYPES)


@pytest.mark.parametrize("text", ["", "250", "kefir", "0 water", "50 l water"])
def test_not_enough(text: str) -> None:
    """Without a kind or with an impossible amount it is refused."""
    with pytest.raises(InputError):
        drink(text)
