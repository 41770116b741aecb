"""What a question, a title and an id may be. Pure."""

from __future__ import annotations

import uuid

from core.errors import InputError

QUESTION_LIMIT, TITLE_LIMIT = 4_000, 60


def question(text: str) -> str:
    """Without white space around it. Errors: InputError."""
    said = text.strip()
    if not said:
        raise InputError("There is no question.", field="text")
    if len(said) > QUESTION_LIMIT:
        raise InputError(f"A question has at most {QUESTION_LIMIT:,} characters.", field="text")
    if "\x00" in said or any("\ud800" <= c <= "\udfff" for c in said):
        raise InputError("The question holds characters that cannot be stored.", field="text")
    return said


def cut(text: str) -> str:
    """A title made of a question."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1]}…"


def is_id(text: str) -> bool:
    """Whether the database would take it as a UUID."""
    try:
        uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return False
    return True
