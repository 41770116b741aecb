"""The JSON body of a request. Parsed only where its keys are needed: Postgres reads the values itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.local.gateway.errors import Failure


@dataclass(frozen=True)
class Payload:
    """The text as it came; an empty body counts as an empty object."""

    text: str

    @classmethod
    def of(cls, body: bytes, content_type: str | None) -> Payload:
        """Errors: Failure 400 PGRST102 for another media type or bytes that are no UTF-8."""
        media = (content_type or "application/json").partition(";")[0].strip().lower()
        if media != "application/json":
            raise Failure(400, "PGRST102", f"Content-Type not acceptable: {media}")
        try:
            return cls(body.decode() or "{}")
        except UnicodeDecodeError:
            raise invalid() from None

    def as_array(self) -> str:
        """The rows: the array itself, or the object as an array of one."""
        return self.text if self.text.lstrip(" \t\r\n").startswith("[") else f"[{self.text}]"

    def keys(self) -> list[str]:
        """Keys of the object, or of every object of the array. Errors: Failure 400 PGRST102."""
        value = self._parsed
        rows = value if isinstance(value, list) else [value]
        if not all(isinstance(row, dict) for row in rows):
            raise invalid()
        first = rows[0] if rows else {}
        if any(row.keys() != first.keys() for row in rows):
            raise Failure(400, "PGRST102", "All object keys must match")
        return list(first)

    def arguments(self) -> list[str] | None:
        """Keys of the object; None for another JSON value, which only a function of one json argument takes."""
        value = self._parsed
        return list(value) if isinstance(value, dict) else None

    @cached_property
    def _parsed(self) -> Any:
        try:
            return json.loads(self.text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise invalid() from None


def invalid() -> Failure:
    return Failure(400, "PGRST102", "Empty or invalid json")


def _no_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON
