"""Tags of a chunk: its source, and three themes by their words. For a reader; retrieval never filters by them."""

from __future__ import annotations

import re

THEMES = {
    "sexual": "sex sexual horny kiss naked cock pussy cum orgasm fantasy",
    "trust": "wife married trust honest jealous serious relationship",
    "emotional": "miss love feel lonely care warm soft heart",
}
# ASCII word boundaries, as the existing backend's \b: "café" does not hide "caf", and no Cyrillic letter joins a word.
_PATTERNS = {theme: re.compile(rf"\b(?:{'|'.join(words.split())})\b", re.IGNORECASE) for theme, words in THEMES.items()}


def tags_of(source: str, text: str) -> tuple[str, ...]:
    """The source first, then each theme with a whole word in the text, any case. Source: spec/memory.md section 3."""
    return (source, *(theme for theme, pattern in _PATTERNS.items() if pattern.search(text)))
