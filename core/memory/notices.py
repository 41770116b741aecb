"""What was odd about a payload, said once per kind and counted: a payload of 100,000 faults gives a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["missing", "malformed", "dropped", "repeated", "date", "identity", "system", "limit", "cut", "note"]

EXPECTED: frozenset[Kind] = frozenset({"system"})

UNSTORABLE = "Texts with characters that cannot be stored (NUL, half a surrogate pair), which were removed: {n}."


@dataclass(frozen=True)
class Notice:
    """One thing to tell about an input: its place (`notes`, `conversation.sent_at`), what it is, how often.

    `kind` lets a preview group what was cut, dropped and why; the message never repeats anybody's text.
    """

    field: str
    message: str
    kind: Kind = "note"
    count: int = 1

    @property
    def is_warning(self) -> bool:
        """False for what loses nothing: system messages. Older messages and cut texts are content left out."""
        return self.kind not in EXPECTED


class Findings:
    """Collects notices while a payload is read; equal ones are counted. Not thread-safe: one per payload."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, Kind, str], int] = {}

    def add(self, field: str, kind: Kind, message: str, count: int = 1) -> None:
        """Note something; `{n}` in the message becomes the number of times it was noted."""
        if count > 0:
            key = (field, kind, message)
            self._counts[key] = self._counts.get(key, 0) + count

    def notices(self) -> tuple[Notice, ...]:
        """All of them, in the order in which each kind was first met."""
        return tuple(
            Notice(field, message.replace("{n}", f"{n:,}"), kind, n)
            for (field, kind, message), n in self._counts.items()
        )
