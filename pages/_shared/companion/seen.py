"""What of the companion's words is shown to whom: people of the memory masked, the own day to its owner alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from core.events.owned import OWN_DAY, WITHHELD
from pages._shared import session, veil

# Keys and ids of rows, alone or in a list: they are no person's, and what is proposed is about them.
_ROWS = re.compile(r'[\[\]", 0-9a-f-]{32,}')


def withheld(module: str) -> bool:
    """Whether it is of the own day, and not of whoever is here."""
    return module in OWN_DAY and not session.may("own_day")


def shower(module: str, dialog_keys: Iterable[str] = ()) -> Callable[[str], str]:
    """Texts of a part of the product about these dialogs, as this view shows them. Errors: DatabaseError."""
    if withheld(module):
        return lambda words: WITHHELD if words else words
    if module in OWN_DAY:
        return str  # one's own words
    plains = [veil.shower(key) for key in (*dialog_keys, None)]

    def shown(words: str) -> str:
        if _ROWS.fullmatch(words):
            return words
        for plain in plains:
            words = plain(words)
        return words

    return shown
