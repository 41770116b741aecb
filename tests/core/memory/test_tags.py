"""Tags by whole words."""

from __future__ import annotations

import pytest

from core.memory.tags import tags_of


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("likes trains", ("note",)),
        ("He is MARRIED, and lonely.", ("note", "trust", "emotional")),
        ("a kiss; a serious relationship; love", ("note", "sexual", "trust", "emotional")),
        ("sexy Essex, carefully, heartless, trusty", ("note",)),
        ("дружина", ("note",)),
    ],
)
def test_whole_words_any_case(text: str, tags: tuple[str, ...]) -> None:
    """The source first, then each theme once; a word inside another is none."""
    assert tags_of("note", text) == tags
