"""What a field of a record may hold."""

from __future__ import annotations

import pytest

from core.companion.records import checks
from core.errors import InputError


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u2060\ufe0f", "\u3000", "\u00ad\n"])
def test_what_nobody_would_see_is_nothing(text: str) -> None:
    """A title of it is refused, a description of it is none."""
    with pytest.raises(InputError, match="title is empty"):
        checks.title(text, "title")
    assert checks.text(text, "description") is None


@pytest.mark.parametrize("text", ["\U0001f600", "\u0413\u0430\u043d\u043d\u0430", "$5 _x_ :red[y] <b>", "-"])
def test_any_sign_is_something(text: str) -> None:
    """Kept character for character."""
    assert checks.title(text, "title") == checks.text(text, "description") == text
