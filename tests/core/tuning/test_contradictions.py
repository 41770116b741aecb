"""Candidates for a contradiction: what the rules find, and what they leave alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tuning.contradictions import NoteText, contradictions


def pair(first: str, second: str) -> list[str]:
    notes = [NoteText("a", first, "2026-05-01"), NoteText("b", second, "2026-06-01")]
    return [found.rule for found in contradictions(notes)]


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ("He drinks coffee in the morning.", "He does not drink coffee in the morning.", "denied"),
        ("His daughter Emma is 16.", "Emma, his daughter, is 17.", "number"),
        ("He likes loud music bars.", "He avoids loud music bars.", "opposite"),
        ("Любить гори взимку.", "Не любить гори взимку.", "denied"),
        ("Обіцяв приїхати 14 грудня.", "Обіцяв приїхати 21 грудня.", "number"),
        ("Любит рыбалку на озере.", "Ненавидит рыбалку на озере.", "opposite"),
        ("Він ніколи не їздив потягом до Одеси.", "Їздив потягом до Одеси.", "denied"),
    ],
)
def test_a_candidate(first: str, second: str, rule: str) -> None:
    """The same subject, and one denial, other numbers, or an opposite word; in three languages."""
    assert pair(first, second) == [rule]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("He drinks coffee in the morning.", "He drinks coffee in the evening."),
        ("His daughter Emma is 16.", "The tram number 17 is late."),
        ("He does not eat meat.", "He works on bridges."),
        ("Emma is 16 and his daughter.", "His daughter Emma turned 16."),
        ("", "He does not drink."),
        ("!!!", "???"),
    ],
)
def test_no_candidate(first: str, second: str) -> None:
    """Another subject, the same number, a mere addition, or nothing to read."""
    assert pair(first, second) == []


def test_the_later_note_is_the_second() -> None:
    """By date; notes without one come first."""
    notes = [NoteText("z", "Emma is 17, his daughter.", "2026-06-01"), NoteText("a", "His daughter Emma is 16.")]
    (found,) = contradictions(notes)
    assert (found.first.id, found.second.id) == ("a", "z") and len(found.shared) >= 2


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_text_and_any_order(texts: list[str]) -> None:
    """Whatever people write; the order of the notes does not matter, and no note contradicts itself."""
    notes = [NoteText(str(n), text) for n, text in enumerate(texts)]
    found = contradictions(notes)
    assert sorted(found, key=str) == sorted(contradictions(notes[::-1]), key=str)
    assert contradictions([NoteText("a", text) for text in texts[:1]] * 2) == []


def test_four_hundred_notes_take_a_moment() -> None:
    """As many as are ever read."""
    notes = [NoteText(str(n), f"He does not like topic {n} of list {n % 7} and number {n % 5}") for n in range(400)]
    began = time.perf_counter()
    contradictions(notes)
    assert time.perf_counter() - began < 5
