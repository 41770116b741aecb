"""JSON as JavaScript's `JSON.stringify` writes it after its keys were sorted, and the hash of that."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import rfc8785

_MAX_INDEX = 2**32 - 2


def canonical_json(value: Any) -> str:
    """One line of JSON, keys sorted at every level, numbers and strings as ECMAScript writes them.

    RFC 8785 (the library) but for two habits of JavaScript: integers beyond 2^53 become doubles, and integer-like
    keys (0 to 2^32 - 2, no leading zero) come first, in numeric order. Errors: TypeError for values JSON does not
    know; ValueError for NaN and infinities. Source: spec/memory.md section 6, golden values of the existing backend.
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{_text(k)}:{canonical_json(value[k])}" for k in _javascript_order(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("JSON has no NaN or infinity")
    return rfc8785.dumps(value).decode()


def content_hash(value: Any) -> str:
    """sha256 (hex) of the canonical JSON, equal to the hash that the existing backend stores."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def _text(value: str) -> str:
    if any("\ud800" <= c <= "\udfff" for c in value):
        # JSON.stringify escapes a lone surrogate; RFC 8785 refuses it.
        return (
            '"'
            + "".join(
                f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else rfc8785.dumps(c).decode()[1:-1] for c in value
            )
            + '"'
        )
    return rfc8785.dumps(value).decode()


def _javascript_order(mapping: dict[str, Any]) -> list[str]:
    indexes = [k for k in mapping if _is_index(k)]
    names = [k for k in mapping if not _is_index(k)]
    return sorted(indexes, key=int) + sorted(names, key=lambda k: k.encode("utf-16-be", "surrogatepass"))


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and (key == "0" or key[0] != "0") and int(key) <= _MAX_INDEX
