"""Dialog keys in both orders, and the hash that makes a chunk the same chunk. Source: spec/memory.md section 3."""

from __future__ import annotations

from hashlib import sha256

from core.memory.sources import KeyOrder

UNKNOWN_RU = "unknown-client"
UNKNOWN_TU = "unknown-woman"


def tips_key(ru_id: str, tu_id: str) -> str:
    """Key of the tips flow, RU before TU: 64 hex digits."""
    return _digest(f"dialog:{ru_id}:{tu_id}")


def generic_key(tu_id: str, ru_id: str) -> str:
    """Key of the generic memory API, TU before RU: 64 hex digits."""
    return _digest(f"dialog:{tu_id}:{ru_id}")


def both_keys(ru_id: str, tu_id: str) -> tuple[str, str]:
    """(tips, generic) for one pair. They are equal only where both ids are."""
    return tips_key(ru_id, tu_id), generic_key(tu_id, ru_id)


def key_order(dialog_key: str, ru_id: str | None, tu_id: str | None) -> KeyOrder:
    """Which of the two orders gave this key, or `custom`: a key that somebody chose, or a pair not wholly known."""
    if ru_id and tu_id:
        if dialog_key == tips_key(ru_id, tu_id):
            return "tips"
        if dialog_key == generic_key(tu_id, ru_id):
            return "generic"
    return "custom"


def is_unknown_key(dialog_key: str, ru_id: str | None, tu_id: str | None) -> bool:
    """Was this key made with a placeholder for a missing id? Then different people share it.

    The existing service writes `unknown-woman` and `unknown-client`; either order counts.
    """
    pairs = {(ru_id or UNKNOWN_RU, UNKNOWN_TU), (UNKNOWN_RU, tu_id or UNKNOWN_TU), (UNKNOWN_RU, UNKNOWN_TU)}
    return any(dialog_key in both_keys(ru, tu) for ru, tu in pairs)


def chunk_hash(dialog_key: str, source: str, source_id: str, text: str) -> str:
    """`content_hash` of a chunk: equal for the same text of the same source in the same dialog, 64 hex digits."""
    return _digest(f"{dialog_key}:{source}:{source_id}:{text}")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()
