"""Which question it is, by words."""

from __future__ import annotations

import pytest

from core.companion.converse.rules_tier.answer import SUGGESTIONS
from core.companion.converse.rules_tier.intents import Intent, intent_of

KEY = "AB" * 32


@pytest.mark.parametrize(
    ("text", "name", "range"),
    [
        ("How is today?", "today", "today"),
        ("how was yesterday", "today", "yesterday"),
        ("Як справи?", "today", None),
        ("How was my week?", "week", "week"),
        ("Як пройшов мій тиждень?", "week", "week"),
        ("Wie war meine Woche?", "week", "week"),
        ("How was the month", "week", "month"),
        ("How many tasks did I do this week?", "week", "week"),
        ("What is overdue this week?", "due", "week"),
        ("What is wrong?", "wrong", None),
        ("Що не так?", "wrong", None),
        ("Was ist kaputt?", "wrong", None),
        ("What did it cost?", "cost", None),
        ("How much did we spend this month", "cost", "month"),
        ("Скільки коштувало сьогодні?", "cost", "today"),
        ("Which goals are behind this week?", "goals", "week"),
        ("What is due?", "due", None),
        ("Was ist heute fällig?", "due", "today"),
        ("How are my streaks?", "streaks", None),
        ("Which proposals wait?", "proposals", None),
        ("Is everything synced?", "sync", None),
        ("Is the dialog synced?", "sync", None),
        ("How big is the memory?", "memory", None),
        ("Which patterns are there?", "patterns", None),
        ("help", "help", None),
        ("What can you do?", "help", None),
        ("Write a poem", "unknown", None),
        ("", "unknown", None),
        ("x?" * 5_000, "unknown", None),
    ],
)
def test_questions(text: str, name: str, range: str | None) -> None:
    """English, with a few words of other languages; anything else is not known, and says so."""
    found = intent_of(text)
    assert (found.name, found.range) == (name, range)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        (f"Is dialog {KEY} synced?", Intent("dialog", dialog_key=KEY.lower())),
        (KEY, Intent("dialog", dialog_key=KEY.lower())),
        ("Is dialog RU ru-1 TU tu-9 up to date?", Intent("dialog", pair=("ru-1", "tu-9"))),
        ("ru_id=70114, tu_id=9.", Intent("dialog", pair=("70114", "9"))),
        ("is dialog 70114/9 synced", Intent("dialog", pair=("70114", "9"))),
        ("is dialog customer-17 synced?", Intent("dialog", dialog_key="customer-17")),
    ],
)
def test_one_dialog(text: str, intent: Intent) -> None:
    """By its key, or by the two ids."""
    assert intent_of(text) == intent


@pytest.mark.parametrize("word", ["model", "phase", "provider", "day"])
def test_groups_of_cost(word: str) -> None:
    """By what it is split."""
    assert intent_of(f"What did the week cost, by {word}?") == Intent("cost", "week", word)  # type: ignore[arg-type]


def test_every_suggestion_is_understood() -> None:
    """None leads to "I cannot answer that"."""
    assert "unknown" not in {intent_of(text).name for text in SUGGESTIONS}
