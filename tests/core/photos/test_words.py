"""What was seen, validated, and as one chunk of text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from core.memory.chunks import PHOTO_LINE
from core.memory.text import units
from core.photos.words import TEXT_LIMIT, Seen, photo_text

FULL: dict[str, Any] = {
    "subject": "A man with a grey dog.",
    "setting": "a snowy park",
    "mood": "calm",
    "details": ["red scarf", "wooden bench"],
    "hooks": ["Ask for the dog's name", "winter walks"],
    "cautions": ["a second person is cut off"],
}


def test_the_same_answer_gives_the_same_text() -> None:
    """Word for word, as its hash is the chunk's identity."""
    assert photo_text(Seen(**FULL)) == (
        "Photo shows: A man with a grey dog. Setting: a snowy park. Mood: calm. Details: red scarf; wooden bench. "
        "To talk about: Ask for the dog's name; winter walks. Careful: a second person is cut off."
    )
    assert photo_text(Seen(subject="A cat")) == "Photo shows: A cat."


def test_whole_items_are_left_out() -> None:
    """Nothing is cut in the middle; what comes first stays."""
    text = photo_text(Seen(**{**FULL, "details": [f"detail {'x' * 90} {n}" for n in range(6)]}))
    assert units(text) <= TEXT_LIMIT and text.startswith("Photo shows: A man") and text.endswith(".")
    assert "detail" in text and not text.endswith("x.")


@given(st.builds(dict, **{
    "subject": st.text(min_size=1, max_size=300), "setting": st.text(max_size=300), "mood": st.text(max_size=50),
    "details": st.lists(st.text(max_size=200), max_size=10), "hooks": st.lists(st.text(max_size=200), max_size=10),
    "cautions": st.lists(st.text(max_size=200), max_size=10)}))  # fmt: skip
def test_any_answer_gives_a_storable_chunk(answer: dict[str, Any]) -> None:
    """At most 420 units on one line without NUL, and never taken for the line with the URL."""
    try:
        text = photo_text(Seen(**answer))
    except ValidationError:
        return
    assert units(text) <= TEXT_LIMIT and "\0" not in text and "\n" not in text
    assert not text.startswith(PHOTO_LINE)


@pytest.mark.parametrize(
    "answer",
    ["", "null", "[]", "{}", '{"subject": ""}', '{"subject": null}', '{"subject": 3}',
     '{"subject": "x", "details": "y"}', '{"subject": "x", "hooks": [1]}',
     '{"subject": "x"', "I cannot help with that."],
)  # fmt: skip
def test_other_shapes_are_refused(answer: str) -> None:
    """Also the words of a model that does not want to."""
    with pytest.raises(ValidationError):
        Seen.model_validate_json(answer)
