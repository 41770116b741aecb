"""Long text in pieces: at sentence ends, else between words, else by length. One pass, linear in the text.

A note is often typed in a hurry: an abbreviation, an initial or a number before the full stop is no sentence end, an
ellipsis and closing quotes stay with the sentence before them. Source: spec/memory.md section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.memory.sources import CHUNK_LIMIT
from core.memory.text import units

_CLOSERS = "»\"'”’“)\\]}"
# The look-behind starts each run of stops once: a line of dots stays linear.
_END = re.compile(rf"(?<![.!?…])([.!?…]+)[{_CLOSERS}]* ")
_WORD_BEFORE = re.compile(r"[^\s(«\"„“\[]*$")
# Addresses, dates, titles and counts in Ukrainian and Russian; then English.
_ABBREVIATION_WORDS = """
вул ул бул бульв просп пр пров пер пл наб буд д кв корп стор обл р рр р-н м с смт г гг ст ім им тел моб грн коп руб
тис млн млрд хв год сек см кг гр т тт п пп ч гл табл напр див ін т.д т.п т.ін т.зв т.е т.к проф доц акад др п-к св ред
mr mrs ms dr prof st ave rd blvd vs etc approx apt e.g i.e a.m p.m u.s u.k jan feb apr jun jul aug sept oct nov dec
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())


def split_text(text: str, limit: int = CHUNK_LIMIT) -> tuple[str, ...]:
    """Pieces of 1 to `limit` UTF-16 units, in reading order. Joined by single spaces they give the text, whose white
    space must be folded already; only a single word over the limit is broken inside."""
    if units(text) <= limit:
        return (text,) if text else ()
    return tuple(_packed(_fitting(text, limit), limit))


def _fitting(text: str, limit: int) -> Iterator[str]:
    """Units of at most `limit`: sentences; a sentence over it at its weaker ends, then by words, a word by length."""
    for sentence in sentences(text):
        if units(sentence) <= limit:
            yield sentence
            continue
        for clause in sentences(sentence, strict=False):
            if units(clause) <= limit:
                yield clause
                continue
            yield from _packed(_words(clause, limit), limit)


def sentences(text: str, *, strict: bool = True) -> Iterator[str]:
    """Sentences without the space between them. `strict`: the next one must not begin with a small letter."""
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, start, match, strict):
            yield text[start : match.end() - 1]
            start = match.end()
    if start < len(text):
        yield text[start:]


def _ends_sentence(text: str, start: int, match: re.Match[str], strict: bool) -> bool:
    following = text[match.end() : match.end() + 1]
    if not following or following in "»)]}.,;:…!?":
        return False
    if strict and following.islower():
        return False
    if match[1] != ".":
        return True
    # A window, so that one endless word cannot make every full stop look at all of it.
    before = _WORD_BEFORE.search(text, max(start, match.start() - 24), match.start())
    word = before[0].lower() if before else ""
    return not (word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()))


def _packed(parts: Iterable[str], limit: int) -> Iterator[str]:
    """As many parts as fit, joined by single spaces."""
    held: list[str] = []
    length = 0
    for part in parts:
        size = units(part)
        if held and length + 1 + size > limit:
            yield " ".join(held)
            held, length = [], 0
        length += size + (1 if held else 0)
        held.append(part)
    if held:
        yield " ".join(held)


def _words(text: str, limit: int) -> Iterator[str]:
    for word in text.split(" "):
        if units(word) <= limit:
            yield word
        else:
            yield from _by_length(word, limit)


def _by_length(word: str, limit: int) -> Iterator[str]:
    """Slices of `limit` UTF-16 units; a character that needs two is never cut in half."""
    start = size = 0
    for i, char in enumerate(word):
        width = 2 if char > "\uffff" else 1
        if size + width > limit:
            yield word[start:i]
            start, size = i, 0
        size += width
    yield word[start:]
