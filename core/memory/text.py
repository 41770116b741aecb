"""Foreign text made storable: no NUL, no lone surrogate, white space folded, cut as JavaScript counts."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

# What JavaScript's \s matches: one character more (U+FEFF) and five fewer than Python's, and texts must hash alike.
_SPACE = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_UNFOLDED = re.compile("  |[\t\n\v\f\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]")
_LINE_BREAKS = re.compile("[ \t]*[\n\v\f\r\x1c-\x1e\u0085\u2028\u2029][ \t\n\v\f\r\x1c-\x1e\u0085\u2028\u2029]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
# Letters and marks that show nothing: combining grapheme joiner, Hangul fillers, blank braille, variation selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {chr(c) for c in range(0xFE00, 0xFE10)}


def storable(text: str) -> str:
    """The text without NUL (Postgres refuses it) and without lone surrogates (no UTF-8 has them); halves that stand
    side by side are joined."""
    if not is_unstorable(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return joined.replace("\0", "")


def is_unstorable(value: Any) -> bool:
    """Is this a text that `storable` would change?"""
    if not isinstance(value, str):
        return False
    return "\0" in value or (not value.isascii() and _SURROGATE.search(value) is not None)


def fold(text: str) -> str:
    """White space runs become one space, none at the ends."""
    return (_SPACE.sub(" ", text) if _UNFOLDED.search(text) else text).strip(" ")


def fold_lines(text: str) -> str:
    """Line breaks, with the white space around them, become one space; other spacing stays."""
    return _LINE_BREAKS.sub(" ", text).strip()


def units(text: str) -> int:
    """Length in UTF-16 code units, as the existing backend counts."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def cut(text: str, limit: int) -> str:
    """The first `limit` UTF-16 units, without half a character or a space at the end."""
    if units(text[: limit + 1]) <= limit:
        return text
    head = text[:limit]
    return head.encode("utf-16-le")[: 2 * limit].decode("utf-16-le", "ignore").rstrip(" ")


def is_blank(text: str) -> bool:
    """Is nothing to be seen: only white space, control and format characters, and letters that show nothing?"""
    return all(c in _INVISIBLE or unicodedata.category(c)[0] in "ZC" for c in text)


def scalar(value: Any) -> str | None:
    """Text of a text or number, storable and trimmed; None for anything else and for what shows nothing.

    Numbers are written as JavaScript writes them (34.0 is `34`); booleans are not numbers.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        # Beyond Python's limit for printing integers nothing is an id or an age.
        return str(value) if value.bit_length() <= 1024 else None
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if not isinstance(value, str):
        return None
    text = storable(value).strip()
    return None if is_blank(text) else text


def is_given(value: Any) -> bool:
    """Is there anything: not null, not an empty text, list or object?"""
    return value is not None and value != "" and value != [] and value != {}
