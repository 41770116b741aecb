"""What a model saw, validated, and as one chunk of text. Pure."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from core.memory.chunks import PHOTO_LINE
from core.memory.text import fold, storable, units

# A photo is one chunk, and takes no more room in a prompt than a piece of a note: in UTF-16 units, as all limits.
TEXT_LIMIT = 420
ITEM_LIMIT = 120
ITEMS = 6


def _line(value: object) -> object:
    return fold(storable(value)) if isinstance(value, str) else value


def _short(value: object) -> object:
    line = _line(value)
    return line if not isinstance(line, str) or len(line) <= ITEM_LIMIT else line[: ITEM_LIMIT - 1].rstrip() + "…"


def _items(value: object) -> object:
    """Empty lines out, no more than six."""
    if not isinstance(value, list):
        return value
    return [item for item in value if not isinstance(item, str) or item.strip()][:ITEMS]


Short = Annotated[str, BeforeValidator(_short)]
Items = Annotated[list[Short], BeforeValidator(_items)]


class Seen(BaseModel):
    """The answer that is asked for. Long lines are cut and long lists end after six; another shape is refused."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    subject: Short = Field(min_length=1, description="who or what is in the picture, in one short sentence")
    setting: Short = Field("", description="where it was taken, as far as it can be seen")
    mood: Short = Field("", description="the mood of the picture in a few words")
    details: Items = Field(default_factory=list, description="visible details worth remembering")
    hooks: Items = Field(default_factory=list, description="things in the picture to start a conversation with")
    cautions: Items = Field(default_factory=list, description="what is unclear or should not be mentioned")


def photo_text(seen: Seen) -> str:
    """One line of at most 420 UTF-16 units: what comes first matters more, and an item is left out rather than cut.

    Never begins like the line "photo is available", by which the two are told apart.
    """
    text = f"Photo shows: {seen.subject.rstrip('.')}."
    for label, value in (("Setting", seen.setting), ("Mood", seen.mood)):
        if value:
            text = _with(text, f" {label}: {value.rstrip('.')}.")
    for label, items in (("Details", seen.details), ("To talk about", seen.hooks), ("Careful", seen.cautions)):
        kept: list[str] = []
        for item in items:
            if units(f"{text} {label}: {'; '.join([*kept, item.rstrip('.')])}.") <= TEXT_LIMIT:
                kept.append(item.rstrip("."))
        if kept:
            text = f"{text} {label}: {'; '.join(kept)}."
    assert not text.startswith(PHOTO_LINE)
    return text


def _with(text: str, more: str) -> str:
    return text + more if units(text + more) <= TEXT_LIMIT else text
