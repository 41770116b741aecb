"""Who speaks in a message, for the `speaker` recipe: "<name>: text".

Messages alone get a name, as they alone have a speaker: an incoming one that of the client (the dialog's profile, else
RU), an outgoing one that of the other side (the newest snapshot of that profile, else TU). Notes,
profile lines, photos and summaries, and messages without a direction, are embedded as they are.

A name counts as it stood when the chunk was embedded: a profile that changes it afterwards changes no vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.embedding.recipe import Recipe
from core.memory.chunks import Chunk

NAME_LINE = "Name: "
NAME_LIMIT = 60  # characters of a name that go before a text: a model is given the text, not a biography


@dataclass(frozen=True)
class Speakers:
    """The names of both sides."""

    ru: str = "RU"
    tu: str = "TU"


def is_spoken(source: str, direction: str | None) -> bool:
    """Whether the speaker recipe gives this chunk a name, so that its vector differs from the plain one."""
    return source == "conversation" and direction in ("incoming", "outgoing")


def embedded_text(recipe: Recipe, source: str, direction: str | None, text: str, speakers: Speakers) -> str:
    """What the model is given for a chunk."""
    if recipe != "speaker" or not is_spoken(source, direction):
        return text
    return f"{speakers.ru if direction == 'incoming' else speakers.tu}: {text}"


def speakers_of(ru: str | None = None, tu: str | None = None) -> Speakers:
    """The speakers of a dialog whose profiles have these names; RU and TU where a name is unknown or blank."""
    return Speakers(_folded(ru) or "RU", _folded(tu) or "TU")


def _folded(name: str | None) -> str:
    return " ".join((name or "").split())[:NAME_LIMIT].rstrip()


def named_in(chunks: Sequence[Chunk]) -> Speakers | None:
    """Speakers as the profile among these chunks names them, None where it names nobody."""
    for chunk in chunks:
        if chunk.source == "profile" and chunk.text.startswith(NAME_LINE):
            return speakers_of(chunk.text.removeprefix(NAME_LINE))
    return None
