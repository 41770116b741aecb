"""Endings of Ukrainian and Russian names by rule, for those that stand in no dictionary.

Beside the dictionaries, not in their place: measured over names.txt of the tests, pymorphy3 alone knows 617 of 644
forms, these rules alone 596 (they know no Лев, Льва and no Федір, Федора), both together 627, and the rules add no
false friend. `python -m bench masking` prints what both find today.
"""

from __future__ import annotations

from collections.abc import Iterator

_ENDINGS = {
    "а": "а и ы і е у ою ой о",
    "я": "я і ї и ю ею єю ей ёй е є ьо",
    "о": "о а у ові ом е і",
    "й": "й я ю єві єм ем є е ї и",
    "ь": "ь я ю еві ем е і и ью",
}
_AFTER_CONSONANT = ("", *["а", "у", "ові", "еві", "ом", "ем", "ым", "им", "і", "е", "ою", "ой"])
_ADJECTIVES = (
    ("ий", "ий ого ому им ім"), ("ый", "ый ого ому ым ом"), ("ой", "ой ого ому ым ом"), ("ая", "ая ой ую ою"),
    ("ська", "ська ської ській ську ською"), ("цька", "цька цької цькій цьку цькою"),
)  # fmt: skip
_SOFT_STEM = ["я", "ю", "еві", "ем", "е", "і", "а", "у", "ом"]
_BEFORE_I = {"к": "ц", "г": "з", "х": "с"}  # Ольга, Ользі
_SHORTEST_STEM = 2


def by_rule(word: str) -> Iterator[str]:
    """The cases of one lower-case Cyrillic word, singular, right or merely possible."""
    for ending, others in _ADJECTIVES:
        if word.endswith(ending) and len(word) > len(ending) + _SHORTEST_STEM:
            yield from (word.removesuffix(ending) + other for other in others.split())
            return
    if word.endswith(("ець", "ец")):
        stem = f"{word[: word.rindex('е')]}ц"
        yield from (stem + ending for ending in _SOFT_STEM)
    stem = word[:-1]
    if word[-1:] not in _ENDINGS:
        yield from (word + ending for ending in _AFTER_CONSONANT)
    elif len(stem) >= _SHORTEST_STEM:
        yield from (stem + ending for ending in _ENDINGS[word[-1]].split())
        if word[-1] == "а" and stem[-1] in _BEFORE_I:
            yield f"{stem[:-1]}{_BEFORE_I[stem[-1]]}і"
