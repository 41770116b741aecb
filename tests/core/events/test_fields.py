"""Payload fields let counts, hashes and ids through, and no text."""

from __future__ import annotations

import numpy as np
import pytest

from core.events.fields import Field, count, counts, flag, ident, number, word, words


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        (count, 3, 3),
        (count, np.int64(3), 3),
        (number, np.float32(0.5), 0.5),
        (number, 1, 1.0),
        (flag, False, False),
        (word, "gemini-embedding-001:768", "gemini-embedding-001:768"),
        (word, "2026-11-30", "2026-11-30"),
        (word, "data.notes[3].text", "data.notes[3].text"),
        (ident, 'k"1,2\\3(x)/y+z %2F ü', 'k"1,2\\3(x)/y+z %2F ü'),
        (counts, {"note": 2}, {"note": 2}),
        (words, ("a", "b"), ["a", "b"]),
    ],
)
def test_fitting_values(field: Field, value: object, kept: object) -> None:
    """They come out as plain JSON."""
    found = field(value)
    assert found == kept and type(found) in (int, float, bool, str, dict, list)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (count, True),
        (count, -1),
        (count, 1.5),
        (count, "3"),
        (number, float("nan")),
        (number, float("inf")),
        (number, True),
        (number, "x"),
        (flag, 1),
        (word, "he worries about trust"),
        (word, ""),
        (word, "x" * 101),
        (word, None),
        (ident, ""),
        (ident, "two\nlines"),
        (ident, "half\ud800"),
        (ident, "x" * 513),
        (counts, {"he said": 1}),
        (counts, {"note": "text"}),
        (counts, [1]),
        (words, "text"),
        (words, ["he said"]),
        (words, ["a"] * 101),
    ],
)
def test_values_that_do_not_fit(field: Field, value: object) -> None:
    """Sentences, NaN, booleans as numbers: refused."""
    with pytest.raises((TypeError, ValueError)):
        field(value)
