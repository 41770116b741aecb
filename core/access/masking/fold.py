"""Words as one compares them: without case, accents, apostrophes and hidden characters, both scripts alike.

A folded word is for comparison alone; spans always refer to the text as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Latin letters that look like Cyrillic ones: in a word of both scripts they stand for those.
_LOOKALIKES = str.maketrans("abceikmhopctxyABCEIKMHOPCTXY", "авсеікмнорстхуАВСЕІКМНОРСТХУ")
_TO_LATIN = str.maketrans(
    {
        **dict(zip("абвдеёзийклмнопрстуфыэіґ", "abvdeeziiklmnoprstufieig", strict=True)),
        **{"г": "g", "ж": "zh", "х": "h", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ь": "", "ъ": ""},
        **{"ю": "iu", "я": "ia", "є": "ie", "ї": "i"},
    }
)
# Ways in which one sound is spelt in Latin letters; the first fits before the next.
_SPELLINGS = (
    ("shch", "sch"), ("kh", "h"), ("zh", "z"), ("th", "t"), ("x", "ks"), ("w", "v"), ("ph", "f"), ("ck", "k"),
    ("q", "k"), ("y", "i"), ("j", "i"), ("h", "g"), ("ie", "e"),
)  # fmt: skip
_DROPPED = re.compile("[\u0300-\u036f'\u2019\u02bc\u2018`\u00b4\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_LATIN, _CYRILLIC = re.compile("[a-zA-Z]"), re.compile("[\u0400-\u052f]")
_DOUBLED = re.compile(r"(.)\1+")
# The breve of й and the dots of ї and ё are no accents: they stay.
_LETTERS = {"и\u0306": "й", "і\u0308": "ї", "е\u0308": "ё"}


def plain(text: str) -> str:
    """Lower case, composed, without accents, apostrophes and hidden characters; the scripts as they are."""
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).lower())
    for apart, letter in _LETTERS.items():
        text = text.replace(apart, letter)
    return _DROPPED.sub("", text)


def one_script(word: str) -> str:
    """A word in which both scripts are mixed, with Cyrillic letters for the Latin ones that look alike."""
    if _LATIN.search(word) and _CYRILLIC.search(word):
        return word.translate(_LOOKALIKES)
    return word


@lru_cache(maxsize=65_536)
def skeleton(word: str) -> str:
    """One word by its sound in Latin letters: "Ольга", "Olha" and "OLGA" alike, "Юлія" and "Yuliia" too."""
    word = one_script(plain(word)).translate(_TO_LATIN)
    for spelt, sound in _SPELLINGS:
        word = word.replace(spelt, sound)
    return _DOUBLED.sub(r"\1", word)
