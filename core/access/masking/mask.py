"""Spans of personal data in a text, and the text without them.

Masked are e-mail addresses, links and accounts, telephone numbers, ids, explicit words, and the names that are known
of the dialog. Names of others that a text mentions are not known and stay: this is no recognition of any name.
Source: the owner's rule that a text is shown masked until somebody reveals it and says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from core.access.masking.explicit import explicit
from core.access.masking.names import WORD, Forms, forms_of
from core.access.masking.patterns import by_form
from core.access.masking.values import kind_of_field

Kind = Literal["name", "e-mail", "phone", "link", "id", "explicit"]
# Where two spans overlap, the longer counts, then the kind that stands first here.
_ORDER: tuple[Kind, ...] = ("e-mail", "link", "id", "phone", "name", "explicit")
_OURS = re.compile(r"\[(?:name|e-mail|phone|link|id|explicit)\]")
REMEMBERED = 500  # texts of a dialog, since a page draws the same ones again and again
SHORTEST_ID = 4  # an id such as "7" would take every 7 out of a text


@dataclass(frozen=True)
class Known:
    """What is known of the people of a dialog: their names, and the ids of RU and TU."""

    names: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` of a text, and what they are."""

    start: int
    end: int
    kind: Kind


class Mask:
    """For the texts of one dialog. Thread-safe; the forms of its names are made at the first text."""

    def __init__(self, known: Known = Known()) -> None:
        self._known = known
        self._masked: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The text with `[name]`, `[e-mail]`, ... for what is personal. Masking it again changes nothing."""
        kept = self._masked.get(text)
        if kept is not None:
            return kept
        masked = self._once(text)
        while (again := self._once(masked)) != masked:  # what stood at something personal is seen now
            masked = again
        if len(self._masked) < REMEMBERED:
            self._masked[text] = masked
        return masked

    def _once(self, text: str) -> str:
        parts: list[str] = []
        at = 0
        for span in self.spans(text):
            parts += [text[at : span.start], f"[{span.kind}]"]
            at = span.end
        return "".join([*parts, text[at:]])

    def spans(self, text: str) -> tuple[Span, ...]:
        """In order, without overlap; neighbouring words of one name are one span."""
        if not text or text.isspace():
            return ()
        ours = [found.span() for found in _OURS.finditer(text)]
        chosen: list[Span] = []
        for span in sorted(self._found(text), key=lambda s: (s.start - s.end, _ORDER.index(s.kind), s.start)):
            if not any(span.start < end and start < span.end for start, end in ours):
                chosen.append(span)
        return _joined(text, _apart(chosen, len(text)))

    def value(self, value: Any) -> Any:
        """A JSON value with its texts masked; what a field is named may make the whole of it personal."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self._field(str(name), found) for name, found in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value]
        return value

    def _field(self, name: str, value: Any) -> Any:
        kind = kind_of_field(name)
        if kind is None or value is None or isinstance(value, (bool, Mapping)):
            return self.value(value)
        if isinstance(value, (list, tuple)):
            return [self._field(name, one) for one in value]
        return f"[{kind}]" if str(value) else value

    def _found(self, text: str) -> Iterator[Span]:
        for start, end, kind in by_form(text):
            yield Span(start, end, cast(Kind, kind))
        if self._ids is not None:
            yield from (Span(found.start(), found.end(), "id") for found in self._ids.finditer(text))
        if self._known.names:
            for found in WORD.finditer(text):
                if self._forms.hold(found.group()):
                    yield _whole(text, found.start(), found.end())
        yield from (Span(start, end, "explicit") for start, end in explicit(text))

    @cached_property
    def _forms(self) -> Forms:
        return forms_of(self._known.names)

    @cached_property
    def _ids(self) -> re.Pattern[str] | None:
        ids = sorted({id for id in self._known.ids if len(id) >= SHORTEST_ID}, key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ids))})(?!\w)", re.IGNORECASE) if ids else None


def _whole(text: str, start: int, end: int) -> Span:
    """A name with the figures that stand at it, as in `olena_85`."""
    while start and (text[start - 1].isdecimal() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isdecimal() or text[end] == "_"):
        end += 1
    return Span(start, end, "name")


def _apart(spans: list[Span], length: int) -> list[Span]:
    """Those that do not overlap an earlier one of the list, by their place."""
    taken = bytearray(length)
    kept = []
    for span in spans:
        if not any(taken[span.start : span.end]):
            taken[span.start : span.end] = b"\x01" * (span.end - span.start)
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)


def _joined(text: str, spans: list[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and last.kind == span.kind == "name" and text[last.end : span.start] in (" ", "-", "\u00a0"):
            joined[-1] = Span(last.start, span.end, "name")
        else:
            joined.append(span)
    return tuple(joined)
