"""The forms in which a known name may stand in a text: by the dictionaries of pymorphy3 for Ukrainian and Russian, and
by rule for names that stand in none.

Latin names are tried in Cyrillic letters too: whoever is Olena in a profile is Олена, Олені, Оленою in a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.access.masking.diminutives import also_called
from core.access.masking.endings import by_rule
from core.access.masking.fold import one_script, plain, skeleton
from core.access.masking.words import inflected, is_a_word, names_nobody

_HIDDEN = "\\u00ad\\u0300-\\u036f\\u200b-\\u200f\\u2060-\\u2064\\ufeff"
WORD = re.compile(rf"[^\W\d_]+(?:['\u2019\u02bc\u2018`\u00b4{_HIDDEN}]+[^\W\d_]+)*[{_HIDDEN}]*")
WORDS_OF_A_NAME = 6  # a field of more is a sentence somebody wrote there
SHORTEST_SOUND = 3  # what is shorter is a name only as it was given, with a capital letter
SHORTEST_IN_LATIN = 5  # "any" is no Анни: in Latin letters a case ending counts in longer words
# What stands for somebody without naming anybody.
NOBODY = frozenset(
    """
    ru tu client user unknown none null name mr mrs ms dr von van de la der den
    """.split()  # noqa: SIM905
)
_LATIN_TO_CYRILLIC = (
    ("shch", "щ"), ("zh", "ж"), ("kh", "х"), ("th", "т"), ("ts", "ц"), ("ch", "ч"), ("sh", "ш"), ("yu", "ю"),
    ("iu", "ю"), ("ya", "я"), ("ia", "я"), ("ye", "є"), ("yi", "ї"), ("ii", "ій"), ("a", "а"), ("b", "б"), ("v", "в"),
    ("w", "в"), ("h", "г"), ("g", "г"), ("d", "д"), ("e", "е"), ("z", "з"), ("y", "и"), ("i", "і"), ("j", "й"),
    ("k", "к"), ("c", "к"), ("l", "л"), ("m", "м"), ("n", "н"), ("o", "о"), ("p", "п"), ("r", "р"), ("s", "с"),
    ("t", "т"), ("u", "у"), ("f", "ф"), ("x", "кс"), ("q", "к"),
)  # fmt: skip
_RUSSIAN = str.maketrans("іїєґ", "ииег")
_LIGHT = str.maketrans("ёґ", "ег")
_SOFT = re.compile(r"([лн])(?=с?[кц])")  # Latin letters write no soft sign: Kovalska is Ковальська
_APOSTROPHE = re.compile("[\u2019\u02bc\u2018`\u00b4]")
_POSSESSIVE = re.compile(r"['\u2019\u02bc\u2018`\u00b4]s?$", re.IGNORECASE)


@dataclass(frozen=True)
class Forms:
    """`exact`: the forms as they are spelt. `sounds`: how those sound, in any spelling and script. `called`: the sounds
    of what somebody is called, without case endings."""

    exact: frozenset[str] = frozenset()
    sounds: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()

    def hold(self, word: str) -> bool:
        """Whether a word of a text is one of them; a possessive ending is none of its own."""
        return any(self._holds(bare) for bare in _bare(word))

    def _holds(self, word: str) -> bool:
        sound, capital = skeleton(word), word[:1].isupper()
        if len(sound) < SHORTEST_SOUND:
            return capital and _light(word) in self.exact
        if sound not in self.sounds:
            return False
        spelt = _light(word)
        if not capital and is_a_word(spelt):
            return False
        if spelt in self.exact:
            return True
        if spelt.isascii():
            return sound in self.called or len(sound) >= SHORTEST_IN_LATIN
        return not names_nobody(spelt) and not names_nobody(_APOSTROPHE.sub("'", word).lower())


def forms_of(names: Iterable[str]) -> Forms:
    """All forms of these names, of each word of them."""
    words = {plain(word) for name in names for word in WORD.findall(name)[:WORDS_OF_A_NAME]}
    found = [_of_word(word) for word in sorted(words) if len(word) > 1 and word not in NOBODY]
    return Forms(*(frozenset[str]().union(*part) for part in zip(*found, strict=True))) if found else Forms()


@lru_cache(maxsize=4_096)
def _of_word(word: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    called = (word, *also_called(word))
    forms = {_light(one) for one in called}.union(*(_forms(one) for one in called))
    long = (sound for sound in map(skeleton, forms) if len(sound) >= SHORTEST_SOUND)
    short = {skeleton(form) for form in forms} - set(map(skeleton, called))
    exact = {form for form in forms if len(skeleton(form)) >= SHORTEST_SOUND or skeleton(form) not in short}
    return frozenset(exact), frozenset(long), frozenset(map(skeleton, called))


@lru_cache(maxsize=4_096)
def _forms(word: str) -> frozenset[str]:
    return frozenset(_light(form) for spelt in _spellings(word) for form in (*inflected(spelt), *by_rule(spelt)))


def _spellings(word: str) -> Iterator[str]:
    """The word in Cyrillic letters, Ukrainian and Russian."""
    if word.isascii():
        for latin, cyrillic in _LATIN_TO_CYRILLIC:
            word = word.replace(latin, cyrillic)
    soft = _SOFT.sub("\\1ь", word)
    adjective = soft.replace("ск", "ськ").replace("цк", "цьк")
    found = [word, soft, adjective, *([f"{soft}я"] if soft.endswith(("ска", "цка")) else ())]
    yield from dict.fromkeys([*found, *(spelt.translate(_RUSSIAN) for spelt in found)])


def _light(word: str) -> str:
    """As it is spelt, but for what writers leave out: case, accents, the dots of ё."""
    return one_script(plain(word)).translate(_LIGHT)


def _bare(word: str) -> Iterator[str]:
    yield word
    ending = _POSSESSIVE.search(word)
    if ending:
        yield word[: ending.start()]
    elif word.isascii() and word[-1:] == "s" and word[:1].isupper():
        yield word[:-1]
