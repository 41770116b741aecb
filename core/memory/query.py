"""The query that a payload itself asks, where a request brings none. Source: spec/memory.md section 5."""

from __future__ import annotations

from collections.abc import Sequence

from core.memory.dates import in_time_order
from core.memory.messages import Message
from core.memory.notes import Note
from core.memory.payload import Normalised
from core.memory.sources import Direction

PER_DIRECTION = 5
WINDOW = 10
NOTES = 5


def build_query(normalised: Normalised) -> str:
    """Latest incoming, latest outgoing, the balanced recent window of ten, the last five notes.

    One text a line, "" where there are none. A message without a direction is in none of these.
    """
    return query_of(normalised.messages, normalised.notes)


def query_of(messages: Sequence[Message], given: Sequence[Note]) -> str:
    """The same from messages and notes, each in the order in which they stand."""
    latest = [*_latest(messages, "incoming", 1), *_latest(messages, "outgoing", 1)]
    notes = in_time_order(given, [note.at for note in given])[-NOTES:]
    texts = [m.text for m in (*latest, *recent_window(messages))]
    return "\n".join([*texts, *(note.text for note in notes)])


def recent_window(messages: Sequence[Message]) -> list[Message]:
    """The last ten of the five latest incoming and five latest outgoing messages, in the order they have here."""
    both = (*_latest(messages, "incoming", PER_DIRECTION), *_latest(messages, "outgoing", PER_DIRECTION))
    chosen = {id(message) for message in both}
    return [message for message in messages if id(message) in chosen][-WINDOW:]


def _latest(messages: Sequence[Message], direction: Direction, count: int) -> list[Message]:
    return [message for message in messages if message.direction == direction][-count:]
