"""Where a long note is split: between sentences, else between words, else by length."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory.sentences import sentences, split_text
from core.memory.text import cut, fold, storable, units

WALK = "Клієнт любить довгі прогулянки біля річки і розповідає про них майже щодня. "
ADDRESS = "Живе на вул. Шевченка, буд. 5, кв. 12 у м. Львові, працює з 2019 р. на пошті. Має кота."
QUOTES = "Він приїхав… Потім сказав: «Я лишусь тут. Надовго.» І пішов!.. "


def test_address_stays_whole() -> None:
    """Abbreviations before a number or a name are no sentence ends."""
    note = fold(WALK * 5 + ADDRESS)
    assert len(note) == 467
    pieces = split_text(note)
    assert pieces == (fold(WALK * 5), ADDRESS)
    assert " ".join(pieces) == note


def test_ellipsis_and_closing_quotes() -> None:
    """They stay with their sentence; no piece begins with a lone closing quote; an ellipsis may end a piece."""
    note = cut(fold(QUOTES * 20), 800)
    pieces = split_text(note)
    assert " ".join(pieces) == note and all(1 <= units(p) <= 420 for p in pieces)
    assert all(p[0] in "ВПІН«" for p in pieces)
    assert list(sentences(fold(QUOTES)))[:2] == ["Він приїхав…", "Потім сказав: «Я лишусь тут."]
    assert list(sentences(fold(QUOTES * 2)))[2] == "Надовго.»"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T. H. Shevchenko wrote. He was a poet.", ["T. H. Shevchenko wrote.", "He was a poet."]),
        ("Mr. Brown came. Really? Yes! OK.", ["Mr. Brown came.", "Really?", "Yes!", "OK."]),
        ("He is 34. She is 30.", ["He is 34.", "She is 30."]),
        ("He likes e.g. tea (green.) Also cake.", ["He likes e.g. tea (green.)", "Also cake."]),
        ("version 1.5 is out... maybe. ok", ["version 1.5 is out... maybe. ok"]),
        ("She said no. Then she left.", ["She said no.", "Then she left."]),
        ("", []),
    ],
)
def test_sentence_ends(text: str, expected: list[str]) -> None:
    """Initials, titles and small letters behind the stop continue a sentence; numbers and words end one."""
    assert list(sentences(text)) == expected


def test_hurried_notes_without_capitals() -> None:
    """A note typed without capitals is still split at its stops before it is split between words."""
    note = fold("likes green tea and long walks. " * 24)
    pieces = split_text(note)
    assert len(pieces) == 2 and all(p.endswith("walks.") for p in pieces) and " ".join(pieces) == note


def test_long_sentence_and_long_word() -> None:
    """A sentence over the limit is split at a word boundary, a word over it by length, an emoji never in half."""
    sentence = fold("довге " * 130)
    pieces = split_text(sentence)
    assert " ".join(pieces) == sentence and all(set(p.split()) == {"довге"} for p in pieces)
    assert [len(p) for p in split_text("x" * 5_000)] == [420] * 11 + [380]
    assert [units(p) for p in split_text("a" + "😀" * 400)] == [419, 382]


def test_short_texts_are_one_piece() -> None:
    """Up to 420 nothing is split, and an empty text has no piece."""
    text = "One two. " * 46 + "abcdef"
    assert len(text) == 420 and split_text(text) == (text,) and len(split_text(text + "g")) == 2
    assert split_text("One. Two.") == ("One. Two.",) and split_text("") == ()


note_texts = st.lists(
    st.sampled_from(["буд.", "5", "Він", "пішов…", "«Так.»", "no", "No!", "т.д.", "x" * 130, "😀", "І", "...", ")"]),
    max_size=200,
).map(" ".join)


@given(note_texts)
def test_pieces_rejoin(text: str) -> None:
    """Pieces of 1 to 420, joined by single spaces, are the text, while no single word is over the limit."""
    pieces = split_text(text)
    assert " ".join(pieces) == text
    assert all(1 <= units(p) <= 420 for p in pieces)


@given(st.text(max_size=3_000), st.integers(2, 60))
def test_no_character_is_lost(text: str, limit: int) -> None:
    """Whatever text and limit: nothing is lost but spaces between pieces, and no piece is over the limit."""
    text = fold(storable(text))
    pieces = split_text(text, limit)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(1 <= units(p) <= limit for p in pieces)


@pytest.mark.parametrize("unit", ["x", ".", "a. ", ". ", "»", "a.» ", "😀", "буд. "])
def test_linear(unit: str) -> None:
    """200,000 characters of the worst kinds take a second or so, not minutes."""
    started = time.process_time()
    split_text(fold(unit * (200_000 // len(unit))))
    assert time.process_time() - started < 10
