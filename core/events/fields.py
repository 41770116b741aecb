"""What a payload field may hold: counts, hashes, ids and plain words, so that no text of a dialog slips in."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

Field = Callable[[Any], Any]

_WORD = re.compile(r"[A-Za-z0-9_.:/+\[\]-]{1,100}")
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_ID_LIMIT = 512
_LIST_LIMIT = 100


def count(value: Any) -> int:
    """A whole number from 0."""
    whole = operator.index(value)  # numpy's integers too
    if isinstance(value, bool) or whole < 0:
        raise ValueError("no count")
    return whole


def number(value: Any) -> float:
    """A finite number, numpy's included."""
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("no finite number")
    return round(float(value), 6)


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError("no flag")
    return value


def word(value: Any) -> str:
    """A name out of a program: a model, a class, a stage, a date, a file, the path of a field; no spaces."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise ValueError("no plain word")
    return value


def day(value: Any) -> str:
    """A local day, as a date or as its ISO text."""
    if isinstance(value, datetime):
        raise ValueError("a moment is no day")
    return (value if isinstance(value, date) else date.fromisoformat(value)).isoformat()


def moment(value: Any) -> str:
    """An instant with its zone, as such or as ISO text."""
    at = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    if at.tzinfo is None:
        raise ValueError("a moment has a zone")
    return at.isoformat()


def title(value: Any) -> str:
    """What a person called a thing of their own (a task, an appointment, a goal), as plain text; never dialog text.

    Line breaks become spaces; beyond 200 characters it is cut.
    """
    if not isinstance(value, str) or not value.strip():
        raise ValueError("no title")
    return _UNSTORABLE.sub(" ", value).strip()[:200]


def ident(value: Any) -> str:
    """A key or an id as it came, on one line, up to 512 characters: a `dialogKey` may be any text."""
    if not isinstance(value, str) or not 0 < len(value) <= _ID_LIMIT or _UNSTORABLE.search(value):
        raise ValueError("no id")
    return value


def counts(value: Any) -> dict[str, int]:
    """Counts by plain word, such as chunks by source."""
    if not isinstance(value, Mapping) or len(value) > _LIST_LIMIT:
        raise ValueError("no map of counts")
    return {word(k): count(v) for k, v in value.items()}


def words(value: Any) -> list[str]:
    """Up to 100 plain words."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > _LIST_LIMIT:
        raise ValueError("no list of words")
    return [word(v) for v in value]
