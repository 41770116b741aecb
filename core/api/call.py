"""What a handler is given and what it gives back, without a word of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.access import unmasked


@dataclass(frozen=True)
class Text:
    """A body that is no JSON, with its media type."""

    body: str
    media_type: str = "text/plain; charset=utf-8"


def said() -> dict[str, Any]:
    """What a body says of masking: `masked` where it is, nothing where it is the answer of the existing service."""
    return {} if unmasked() else {"masked": True}


# A JSON object, or text, and the status it is sent with.
Answer = tuple[dict[str, Any] | Text, int]


@dataclass(frozen=True)
class Call:
    """One request: the JSON object of its body ({} without one), the decoded parts of its path, and its query."""

    body: Mapping[str, Any]
    path: Mapping[str, Any]
    query: Mapping[str, str]
