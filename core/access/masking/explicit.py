"""Explicit words of English, Ukrainian and Russian: sexual acts, organs, and obscene words, with their endings.

A detector of our own, beside the English tags of memory (core/memory/tags.py), which stay as they are. It knows words,
not meanings: what is explicit without one of these words is not found. Letters replaced by look-alikes and words drawn
apart ("f u c k", "х.у.й") are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from core.access.masking.fold import one_script, plain

_EN = (
    r"(?:mother)?fuck\w*", r"cocks?", r"cocksuck\w*", r"dicks?", r"puss(?:y|ies)", r"cunts?",
    r"cum(?:s|ming|med|shots?)?",
    r"tits?", r"titties", r"boobs?", r"boobies", r"(?:blow|hand|rim)jobs?", r"horny", r"horniest", r"orgasm\w*",
    r"masturbat\w*",
    r"penis(?:es)?", r"vagina[ls]?", r"vaginas", r"clit(?:oris)?", r"nipples?", r"anal", r"dildos?", r"porn\w*",
    r"nudes?", r"naked",
    r"nudity", r"sex(?:y|ier|iest|ting|ual|ually)?", r"erection\w*", r"ejaculat\w*", r"semen", r"whores?", r"sluts?",
    r"slutty",
    r"threesomes?", r"gangbang\w*", r"bdsm", r"fetish\w*", r"deepthroat\w*", r"shit(?:s|ty|ting)?", r"assholes?",
    r"arseholes?",
    r"bitch(?:es|y)?", r"wank(?:s|ed|ers?|ing)?", r"jizz",
    r"dickheads?", r"cumsluts?", r"creampies?", r"milfs?", r"nympho\w*",
    r"cunniling\w*", r"fellati\w*",
)  # fmt: skip
_UK_PREFIX = r"(?:роз|рас|раз|за|по|ви|від|на|об|роз|до|під|про|пере|при|у|з|недо|най)?"
_RU_PREFIX = r"(?:за|по|вы|от|отъ|на|об|объ|раз|разъ|до|под|про|пере|при|у|съ|въ|изъ|недо)?"
_CYRILLIC = (
    r"(?:на|по|ни|о|от|до|за|недо|оху|аху)?ху[йяюеєиіїё]\w*", r"(?:о|а)ху(?:ен|єн|ев|єв|ит|їт)\w*",
    rf"{_UK_PREFIX}(?:с|рос|от|пи)?п[ие]зд\w*", r"пізд\w*",
    rf"{_RU_PREFIX}[её]б(?:а|у|ё|и|л|н|ш)\w*", rf"{_UK_PREFIX}[їє]б(?:а|у|е|и|л|н|ш)\w*",
    r"(?:долбо|далба|мозго)[её]б\w*",
    r"бля(?:д|т)\w*", r"бля", r"манд[аыуиіоею]{1,2}", r"мінет\w*", r"минет\w*", r"анальн\w*", r"анал", r"оргазм\w*",
    r"мастурб\w*",
    rf"{_RU_PREFIX}дроч\w*", r"сперм[аиыіуоею]\w{0,2}", r"вагін[аиіуо]\w*", r"вагин[аыеуо]\w*", r"піхв[аиуоі]\w*",
    r"клітор\w*",
    r"клитор\w*", r"пеніс\w*", r"пенис\w*", r"сис(?:ьк|ек|еч)\w*", r"цицьк\w*", r"порн(?:о|ух|уш|огр)\w*", r"порно",
    r"(?:е|э)рот(?:и[кч])\w*",
    r"секс", r"секс[ауоіеи]\w{0,2}", r"сексуал\w*", r"интимн\w*", r"інтимн\w*",
    r"(?:по|на|за|от|пере|вы|ві|від)?трах(?:а|н|ат)\w*",
    r"жоп[аиуоіеы]\w{0,3}", r"жоп", r"срак[аиуоі]\w{0,2}", r"шлюх\w*", r"хвойд\w*", r"курв[аиоуі]\w{0,2}",
    r"сук[аиоуі]", r"суко[юй]",
    r"залуп\w*", r"гандон\w*", r"куні(?:лінгус)?\w*", r"куни(?:лингус)\w*", r"голеньк\w*", r"голяк\w*", r"нюдс\w*",
    r"отсос(?:а|у|и|ё|е)?\w{0,3}", r"титьк\w*", r"титек", r"у[её]б\w{1,4}", r"сучк[аиуоі]\w?",
    r"сучек", r"членосос\w*", r"влагалищ\w*", r"(?:за|ви|до|на|роз)?йоб(?:а|н|у)\w*",
    r"дуп[ауиіо]\w?", r"шльондр\w*",
)  # fmt: skip
_FULL = re.compile(rf"(?:{'|'.join((*_EN, *_CYRILLIC))})")
_STAYS = re.compile(r"(?:sex|секс)(?=\s*:)", re.IGNORECASE)  # the line of a form
_HARMLESS = re.compile(r"куні[вцйю]\w*|аналі\w*|пиздец?кий|хуторя?\w*|сексолог\w*|fuckushima")
_LEET = str.maketrans("@013457$!", "aoieastsi")
_TOKEN = re.compile(r"[\w@$!*]+(?:['\u2019\u0300-\u036f\u200b-\u200f\u2060-\u2064\ufeff\u00ad]+[\w@$!*]+)*")
_DRAWN = re.compile(r"(?<!\w)\w(?:[ .*_\-]{1,3}\w){2,11}(?!\w)")
_LATIN = re.compile("[a-z]")
_TO_LATIN = str.maketrans("авсеікмнорстухьї", "abceikmhopctyxbi")
_LONG_DRAWN = re.compile(r"(.)\1+")


def explicit(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each explicit word."""
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        word = found.group()
        while word.endswith("!"):
            word, end = word[:-1], end - 1
        if word and _is_explicit(word) and not _STAYS.match(text, start):
            yield start, end
    for found in _DRAWN.finditer(text):
        yield from _drawn(text, found.start(), found.end())


def _drawn(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The longest explicit run of letters that stand apart, if any."""
    letters = [at for at in range(start, end) if text[at].isalnum()]
    for size in range(len(letters), 2, -1):
        for first in range(len(letters) - size + 1):
            run = letters[first : first + size]
            word = "".join(text[at] for at in run)
            if (word.isascii() or not re.search("[a-zA-Z]", word)) and _is_explicit(word):
                yield run[0], run[-1] + 1
                return


@lru_cache(maxsize=65_536)
def _is_explicit(word: str) -> bool:
    folded = plain(word)
    if not folded.isascii() and _LATIN.search(folded):  # letters of both scripts: either may be the disguise
        return any(_FULL.fullmatch(one) for one in (one_script(folded), folded.translate(_TO_LATIN)))
    if _HARMLESS.fullmatch(folded):
        return False
    if _FULL.fullmatch(folded):
        return True
    if _FULL.fullmatch(_LONG_DRAWN.sub(r"\1", folded)):
        return True
    if folded.isalpha() or folded.isdigit():
        return False
    return bool(_FULL.fullmatch(folded.translate(_LEET)) or _FULL.fullmatch(folded.replace("*", "")))
