"""Notes that may contradict each other: candidates for a person to look at, found by rules, never facts. Pure.

Two notes are a candidate where they are about the same thing, that is where they share at least two words that mean
something, which are at least 40 % of the shorter one's, and then differ in exactly one of these ways:

    denied      one says no, not or never (in English, Ukrainian or Russian), and the other does not
    number      both name numbers, and no number is in both
    opposite    one likes, wants or has what the other dislikes, avoids or no longer has
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

Rule = Literal["denied", "number", "opposite"]

SHARED_LEAST = 2
SHARED_PART = 0.4
STEM = 5  # letters that count: Ukrainian and Russian words change at their end
WORD = re.compile(r"[^\W\d_]+(?:['’ʼ][^\W\d_]+)*")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
DENIALS = """no not never nobody nothing without cannot don't doesn't didn't isn't aren't wasn't weren't won't can't
hasn't haven't не ні ніколи ніхто нічого без немає нема нет ни никогда никто ничего нельзя"""
OPPOSITES = (
    (
        "likes loves wants enjoys любить хоче любит хочет",
        "hates dislikes avoids refuses ненавидить уникає ненавидит избегает",
    ),
    ("married одружений заміжня женат замужем", "divorced single розлучений неодружений разведён разведен"),
    ("started starts почав начал", "stopped stops quit припинив кинув бросил"),
)
_POLES = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in OPPOSITES)
_DENIALS = frozenset(DENIALS.split())
COMMON = """the and for with that this from his her him she they them their was were are has have had does did will
would too much many few about when what who which than then into only very just more most some any all its you your our
але або що щоб його її їх для про під час коли який яка як так він вона вони це цей ця бути був була
был была были это этот чтобы что его когда который она они
name age location occupation goals hobbies traits body type marital status personality"""
_COMMON = frozenset(COMMON.split())


@dataclass(frozen=True)
class NoteText:
    """A note as these rules read it; `note_date` ISO text."""

    id: str
    text: str
    note_date: str | None = None


@dataclass(frozen=True)
class Candidate:
    """Two notes, the later one second where their dates tell; `shared`: the words that both have, shortened."""

    first: NoteText
    second: NoteText
    rule: Rule
    shared: tuple[str, ...]


@dataclass(frozen=True)
class _Read:
    note: NoteText
    words: frozenset[str]
    stems: frozenset[str]
    numbers: frozenset[str]
    denied: bool


def contradictions(notes: Sequence[NoteText]) -> list[Candidate]:
    """Candidates among these notes, the most shared words first. About 80,000 pairs for 400 notes: under a second."""
    read = [_read(note) for note in notes]
    found = [candidate for a, b in combinations(read, 2) for candidate in _compare(a, b)]
    return sorted(found, key=lambda c: (-len(c.shared), c.first.id, c.second.id))


def _compare(a: _Read, b: _Read) -> Iterator[Candidate]:
    shared = a.stems & b.stems
    if len(shared) < SHARED_LEAST or len(shared) < SHARED_PART * min(len(a.stems), len(b.stems)):
        return
    rules: list[Rule] = []
    if a.denied != b.denied:
        rules.append("denied")
    if a.numbers and b.numbers and not a.numbers & b.numbers:
        rules.append("number")
    if any((a.words & one and b.words & other) or (a.words & other and b.words & one) for one, other in _POLES):
        rules.append("opposite")
    if len(rules) == 1:
        first, second = sorted((a.note, b.note), key=lambda note: (note.note_date or "", note.id))
        yield Candidate(first, second, rules[0], tuple(sorted(shared)))


def _read(note: NoteText) -> _Read:
    words = [word.replace("’", "'").replace("ʼ", "'") for word in WORD.findall(note.text.casefold())]
    meaning = [w for w in words if len(w) > 2 and w not in _COMMON and w not in _DENIALS]
    return _Read(
        note,
        frozenset(words),
        frozenset(word[:STEM] for word in meaning),
        frozenset(NUMBER.findall(note.text)),
        any(word in _DENIALS for word in words),
    )
