"""What the dictionaries of pymorphy3 say of a word, and which names are words as well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import pymorphy3

# For Russian its dictionary says how often a form is which; the Ukrainian one does not.
MOSTLY = 0.6
_NAMING = {"Name", "Surn", "Patr", "Geox", "Abbr"}
_UKRAINIAN_WORDS = frozenset(
    ("віра", "надія", "любов", "слава", "роман", "лев", "роза", "злато", "лілія", "зоря", "воля", "світ", "калина")
)
_ENGLISH_WORDS = frozenset(
    """
    will mark hope rose may grace joy faith art bill bob chance chase charity daisy dawn dean drew earl
    eve fern frank gene grant guy hunter iris ivy jack jade jay jean jasmine june lily max melody miles
    misty olive pat pearl penny ray rich rob robin rocky ruby rusty sandy sky star stone summer sue
    sunny terry violet ward wade young love king prince page dick harry angel crystal autumn april
    august bliss norm nick skip heather holly hazel dim sane lay pet roman slava bet beth tom nat gen
    """.split()  # noqa: SIM905
)
_LANGUAGES = ("uk", "ru")


def inflected(word: str) -> Iterator[str]:
    """The singular forms of a word that is a name in a dictionary, or of a noun there, where it is no name."""
    for language in _LANGUAGES:
        analyzer = _analyzer(language)
        if not analyzer.word_is_known(word):
            continue
        parses = analyzer.parse(word)
        for parse in [p for p in parses if _NAMING & p.tag.grammemes or p.tag.POS == "NOUN"] or parses[:1]:
            yield from (form.word for form in parse.lexeme if "plur" not in form.tag)


@lru_cache(maxsize=16_384)
def is_a_word(word: str) -> bool:
    """Whether a form of a name is, for the most part, a word that names nobody."""
    if word in _ENGLISH_WORDS:
        return True
    if word.isascii():
        return False
    if any(parse.normal_form in _UKRAINIAN_WORDS for parse in _known(word, "uk")):
        return True
    return sum(p.score for p in _known(word, "ru") if not _NAMING & p.tag.grammemes) > MOSTLY


@lru_cache(maxsize=16_384)
def names_nobody(word: str) -> bool:
    """Whether a dictionary has the word, and as no name."""
    parses = [parse for language in _LANGUAGES for parse in _known(word, language)]
    return bool(parses) and not any(_NAMING & parse.tag.grammemes for parse in parses)


def _known(word: str, language: str) -> list[pymorphy3.analyzer.Parse]:
    analyzer = _analyzer(language)
    return [parse for parse in analyzer.parse(word) if parse.is_known] if analyzer.word_is_known(word) else []


@cache
def _analyzer(language: str) -> pymorphy3.MorphAnalyzer:
    return pymorphy3.MorphAnalyzer(lang=language)
