"""One line about a drink -> kind, amount and name. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.companion.records.drinks import MOST_ML, TYPES
from core.companion.records.when import THOUSANDS, without
from core.errors import InputError

USUAL_ML = {
    **{"water": 250, "coffee": 200, "tea": 250, "juice": 200, "soda": 330, "smoothie": 250, "milk": 200},
    **{"beer": 500, "wine": 150, "cocktail": 200, "spirit": 40, "energy": 250, "other": 250},
}
SAME = {"alcohol": "other"}
_AMOUNT = re.compile(r"(?<![\w.,])(-?\d+(?:[.,]\d+)?)\s?(ml|cl|dl|litres?|liters?|l)?\b", re.IGNORECASE)
_MANY = re.compile(THOUSANDS + r"\s?(ml)?(?!\s?[cd]?l)\b", re.IGNORECASE)
_FACTOR = {"ml": 1, "cl": 10, "dl": 100, "l": 1000}
_VESSEL = re.compile(r"\b(glass(?:es)?|cups?|bottles?|mugs?)\b(?:\s+of\b)?", re.IGNORECASE)
_VESSEL_ML = {"g": 250, "c": 200, "b": 500, "m": 300}
TIMES_BELOW = 20  # "2 coffee" are two cups, "20 coffee" is 20 ml
EXAMPLE = "Say what and how much, like: 250 water"


@dataclass(frozen=True)
class QuickDrink:
    drink_type: str
    quantity_ml: int
    name: str | None

    def says(self) -> str:
        named = f" ({self.name})" if self.name else ""
        return f"Drink: {self.quantity_ml:,} ml {self.drink_type}{named}"


def drink(text: str) -> QuickDrink:
    """`250 water`, `0.5 l beer`, `2 coffee`, `glass of water`, `green tea`. Errors: InputError."""
    words = " ".join(text.split())
    many = _MANY.search(words)
    amount = many or _AMOUNT.search(words)
    rest = without(words, amount) if amount else words
    vessel = _VESSEL.search(rest)
    rest = without(rest, vessel) if vessel else rest
    spoken = re.findall(r"[^\W\d_]+", rest.lower())
    kind = next((SAME.get(w, w) for w in reversed(spoken) if SAME.get(w, w) in TYPES), None)
    if kind is None and (amount is None or not spoken):
        raise InputError(EXAMPLE, field="text")
    size = _VESSEL_ML[vessel[1][0].lower()] if vessel else USUAL_ML[kind or "other"]
    ml = float(re.sub(r"[^\d-]", "", many[1])) if many else _ml(amount, size) if amount else size
    if not 0 < ml <= MOST_ML:
        raise InputError(f"A drink has more than 0 and at most {MOST_ML:,} ml.", field="quantity_ml")
    return QuickDrink(kind or "other", max(1, round(ml)), rest if len(spoken) > 1 or kind not in spoken else None)


def _ml(found: re.Match[str], size: int) -> float:
    number = float(found[1].replace(",", "."))
    unit = (found[2] or "").lower()
    if unit:
        return number * _FACTOR["l" if unit.startswith("lit") else unit]
    return number * size if number < TIMES_BELOW else number
