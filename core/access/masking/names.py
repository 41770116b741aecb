"""The forms in which a known name may stand in a text, by the dictionaries of pymorphy3 for Ukrainian and Russian.

Latin names are tried in Cyrillic letters too: whoever is Olena in a profile is Олена, Олені, Оленою in a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import pymorphy3

from core.access.masking.diminutives import also_called
from core.access.masking.fold import plain, skeleton

_HIDDEN = "\\u00ad\\u0300-\\u036f\\u200b-\\u200f\\u2060-\\u2064\\ufeff"
WORD = re.compile(rf"[^\W\d_]+(?:['\u2019\u02bc\u2018`\u00b4{_HIDDEN}]+[^\W\d_]+)*[{_HIDDEN}]*")
WORDS_OF_A_NAME = 6  # a field of more is a sentence somebody wrote there
# What stands for somebody without naming anybody.
NOBODY = frozenset(
    """
    ru tu client user unknown none null name mr mrs ms dr von van de la der den
    """.split()  # noqa: SIM905
)
# Names that are words as well. For Russian its dictionary says how often a form is which; the Ukrainian one does not.
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
    sunny terry violet ward wade young love king prince page page dick harry angel crystal autumn april
    august bliss norm nick pat skip heather holly hazel
    """.split()  # noqa: SIM905
)
_LATIN_TO_CYRILLIC = (
    ("shch", "щ"), ("zh", "ж"), ("kh", "х"), ("ts", "ц"), ("ch", "ч"), ("sh", "ш"), ("yu", "ю"), ("iu", "ю"),
    ("ya", "я"), ("ia", "я"), ("ye", "є"), ("yi", "ї"), ("ii", "ій"), ("a", "а"), ("b", "б"), ("v", "в"),
    ("w", "в"), ("h", "г"), ("g", "г"), ("d", "д"), ("e", "е"), ("z", "з"), ("y", "и"), ("i", "і"), ("j", "й"),
    ("k", "к"), ("c", "к"), ("l", "л"), ("m", "м"), ("n", "н"), ("o", "о"), ("p", "п"), ("r", "р"), ("s", "с"),
    ("t", "т"), ("u", "у"), ("f", "ф"), ("x", "кс"), ("q", "к"),
)  # fmt: skip
_RUSSIAN = str.maketrans("іїєґ", "ииег")
_SOFT = re.compile(r"([лн])(?=с?[кц])")  # Latin letters write no soft sign: Kovalska is Ковальська
_LANGUAGES = ("uk", "ru")


@dataclass(frozen=True)
class Forms:
    """Sounds of the words to be masked. `capital`: those masked only with a capital letter, being words as well, or
    too short to be told from one."""

    anyhow: frozenset[str]
    capital: frozenset[str]

    def hold(self, word: str) -> bool:
        """Whether a word of a text is one of them; a possessive ending is none of its own."""
        for bare in _bare(word):
            sound = skeleton(bare)
            if sound in self.anyhow:
                return True
            if bare[:1].isupper() and (sound in self.capital or f"={plain(bare)}" in self.capital):
                return True
        return False


def forms_of(names: Iterable[str]) -> Forms:
    """All forms of these names, of each word of them."""
    anyhow: set[str] = set()
    capital: set[str] = set()
    for name in names:
        for word in WORD.findall(name)[:WORDS_OF_A_NAME]:
            if len(plain(word)) > 1 and plain(word) not in NOBODY:
                certain, doubtful = _of_word(plain(word))
                anyhow |= certain
                capital |= doubtful
    return Forms(frozenset(anyhow - capital), frozenset(capital))


@lru_cache(maxsize=4_096)
def _of_word(word: str) -> tuple[frozenset[str], frozenset[str]]:
    anyhow: set[str] = set()
    capital: set[str] = set()
    for called in (word, *also_called(word)):
        forms = {called, *(form for spelt in _spellings(called) for form in _inflected(spelt))}
        for form in forms:
            sound = skeleton(form)
            if len(sound) > 2:
                (capital if _is_a_word(form) else anyhow).add(sound)
            elif form == called:
                capital.add(f"={form}")  # too short to be known by its sound
    return frozenset(anyhow), frozenset(capital)


def _spellings(word: str) -> Iterator[str]:
    """The word in Cyrillic letters, Ukrainian and Russian."""
    if word.isascii():
        for latin, cyrillic in _LATIN_TO_CYRILLIC:
            word = word.replace(latin, cyrillic)
    soft = _SOFT.sub("\\1ь", word)
    adjective = soft.replace("ск", "ськ").replace("цк", "цьк")
    found = [word, soft, adjective, *([f"{soft}я"] if soft.endswith(("ска", "цка")) else ())]
    yield from dict.fromkeys([*found, *(spelt.translate(_RUSSIAN) for spelt in found)])


def _inflected(word: str) -> Iterator[str]:
    for language in _LANGUAGES:
        parses = _analyzer(language).parse(word)
        named = [p for p in parses if "Name" in p.tag or "Surn" in p.tag or "Patr" in p.tag]
        for parse in named or parses[:1]:
            yield from (form.word for form in parse.lexeme if "plur" not in form.tag)


@lru_cache(maxsize=16_384)
def _is_a_word(word: str) -> bool:
    """Whether a form is a word of a dictionary that names nobody."""
    if word in _ENGLISH_WORDS:
        return True
    if word.isascii():
        return False
    if any(parse.normal_form in _UKRAINIAN_WORDS for parse in _analyzer("uk").parse(word) if parse.is_known):
        return True
    others = (p.score for p in _analyzer("ru").parse(word) if p.is_known and not _NAMING & set(p.tag.grammemes))
    return sum(others) > MOSTLY


@cache
def _analyzer(language: str) -> pymorphy3.MorphAnalyzer:
    return pymorphy3.MorphAnalyzer(lang=language)


def _bare(word: str) -> Iterator[str]:
    yield word
    ending = re.search(r"['\u2019\u02bc\u2018`\u00b4]s?$", word, re.IGNORECASE)
    if ending:
        yield word[: ending.start()]
    elif word.isascii() and word[-1:] == "s" and word[:1].isupper():
        yield word[:-1]
