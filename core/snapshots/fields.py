"""What changed inside a payload: RFC 6902 operations, with the names of keys as they are. Pure."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import Any, Final, Literal

import jsonpatch
import jsonpointer

from core.canonical import canonical_json


class _Missing:
    """Stands for a value that is not there; null is one that is."""

    def __repr__(self) -> str:
        return "missing"


MISSING: Final = _Missing()
Step = str | int


@dataclass(frozen=True)
class FieldChange:
    """One operation; `path` holds keys as they are and positions of lists as they stand at that step.

    `before` and `after` are MISSING where there is nothing; an operation never claims that a value moved.
    """

    op: Literal["add", "remove", "replace"]
    pointer: str
    path: tuple[Step, ...]
    before: Any = MISSING
    after: Any = MISSING

    @property
    def only_code_points(self) -> bool:
        """Two texts that look the same: one composed, the other decomposed."""
        return (
            isinstance(self.before, str)
            and isinstance(self.after, str)
            and self.before != self.after  # as two masked texts may be
            and unicodedata.normalize("NFC", self.before) == unicodedata.normalize("NFC", self.after)
        )

    @property
    def place(self) -> str:
        """`details › goal[0]`; a key that could be misread stands in quotes."""
        parts = [f"[{s}]" if isinstance(s, int) else _name(s) for s in self.path]
        return " › ".join(parts).replace(" › [", "[") or "(everything)"

    def as_json(self) -> dict[str, Any]:
        """The operation of RFC 6902."""
        operation: dict[str, Any] = {"op": self.op, "path": self.pointer}
        return operation if self.op == "remove" else {**operation, "value": self.after}


def field_changes(before: Any, after: Any) -> tuple[FieldChange, ...]:
    """Operations that turn `before` into `after`, in the order in which they apply; () for equal payloads.

    Both are compared in their canonical form, so that 1.0 and 1 are no change. Errors: ValueError for NaN.
    """
    old, new = json.loads(canonical_json(before)), json.loads(canonical_json(after))
    changes = []
    document = json.loads(canonical_json(before))
    # Without its optimisation the library makes no `move`: equal values in two records are not the same value.
    for operation in jsonpatch.JsonPatch.from_diff(old, new, optimization=False).patch:
        pointer = jsonpointer.JsonPointer(operation["path"])
        path, had = _walk(document, pointer.parts)
        change = FieldChange(
            op=operation["op"],
            pointer=operation["path"],
            path=path,
            before=MISSING if operation["op"] == "add" else had,
            after=operation.get("value", MISSING),
        )
        changes.append(change)
        document = jsonpatch.apply_patch(document, [operation], in_place=True)
    return tuple(changes)


def code_points(text: str, limit: int = 24) -> str:
    """`U+0065 U+0308`, for texts that look alike; the first `limit` characters."""
    shown = " ".join(f"U+{ord(c):04X}" for c in text[:limit])
    return shown + (" …" if len(text) > limit else "")


def _walk(document: Any, parts: list[str]) -> tuple[tuple[Step, ...], Any]:
    """The path with list positions as numbers, and the value that stands there now."""
    path: list[Step] = []
    at = document
    for part in parts:
        if isinstance(at, list):
            path.append(int(part))
            at = at[int(part)] if int(part) < len(at) else MISSING
        else:
            path.append(part)
            at = at.get(part, MISSING) if isinstance(at, dict) else MISSING
    return tuple(path), at


def _name(key: str) -> str:
    plain = key and key == key.strip() and not any(c in key for c in '›[]"') and key.isprintable()
    return key if plain else json.dumps(key, ensure_ascii=False)
