"""A cursor over one query parameter, with the tokens that filters, select lists and orders share."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.local.gateway.errors import Failure, unparsable

QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
NAME = re.compile(r"[\w $]+(?:-(?!>)[\w $]+)*")
ARROW = re.compile(r"->>?")
INDEX = re.compile(r"-?\d+(?=$|->|::|[.,)\s])")
KEY = re.compile(r"[^(\-:.,>)]+(?:-(?!>)[^(\-:.,>)]+)*")
ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Field:
    """A column, and the way into it where it holds JSON: steps such as ("->", "a"), ("->>", 0)."""

    name: str
    path: tuple[tuple[str, str | int], ...] = ()


class Scanner:
    """Reads `text` from left to right. Errors: Failure 400 PGRST100 that names `what` and the column."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.what = what
        self.at = 0

    def failure(self, expected: str) -> Failure:
        return unparsable(self.what, self.text, self.at + 1, expected)

    def match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        return found.group()

    def take(self, literal: str) -> bool:
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def expect(self, literal: str) -> None:
        if not self.take(literal):
            raise self.failure(f'"{literal}"')

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def done(self) -> bool:
        return self.at >= len(self.text)

    def quoted(self, pattern: re.Pattern[str] = QUOTED) -> str | None:
        """A text in double quotes, without them; None where there is none here."""
        found = pattern.match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        return ESCAPED.sub(r"\1", found.group(1))

    def name(self) -> str:
        """A column or table name: quoted, or letters, digits, `_ $ -` and inner spaces."""
        self.skip_space()
        quoted = self.quoted()
        if quoted is not None:
            return quoted
        name = (self.match(NAME) or "").strip()
        if not name:
            raise self.failure("field name (* or [a..z0..9_$])")
        return name

    def field(self) -> Field:
        return Field(self.name(), self.path())

    def path(self) -> tuple[tuple[str, str | int], ...]:
        steps: list[tuple[str, str | int]] = []
        while arrow := self.match(ARROW):
            index = self.match(INDEX)
            key: str | int | None = int(index) if index is not None else self.quoted() or self.match(KEY)
            if key is None:
                raise self.failure("JSON key or index")
            steps.append((arrow, key))
        return tuple(steps)
