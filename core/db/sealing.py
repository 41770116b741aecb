"""Free text of the companion, sealed before it is written and opened when it is read. Source: spec/companion.md, TI-9.

AES-256-GCM, a fresh nonce each time. A sealed text names its form and its key, so that plain rows from before and rows
of an older key stay readable beside it. The database sees none of it, and so cannot search in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from core.errors import ConfigError

PREFIX = "sealed:v1:"
JSON_PREFIX = f"{PREFIX}json:"
MISSING = "[sealed: its key is not set]"
KEY_BYTES = 32
_NONCE = 12
_BOUND = b"memory-desk companion"

# Function -> its parameters that hold free text: a path, `[]` for each of a list. A meal alone among the records.
_WRITES: Mapping[str, tuple[str, ...]] = {
    "companion_insert_record": ("p_row.description", "p_row.foods[]"),
    "companion_change_record": ("p_set.description", "p_set.foods[]"),
    "companion_chat_ask": ("p_title", "p_content"),
    "companion_chat_add": (
        "p_messages[].content",
        "p_messages[].tool_call",
        "p_messages[].tool_result",
        "p_messages[].meta",
    ),
    "companion_conversation_change": ("p_title",),
    "companion_fact_learn": ("p_fact.content",),
}
_RECORDS = "companion_meals"
# Table -> its columns that hold free text, for those written before there was a key.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "companion_meals": ("description", "foods"),
    "companion_conversations": ("title",),
    "companion_messages": ("content", "tool_call", "tool_result", "meta"),
    "companion_facts": ("content",),
}


class Sealer:
    """The first key seals, every key opens. Without a key nothing is sealed, and what is sealed stays shut."""

    def __init__(self, keys: Iterable[bytes] = ()) -> None:
        self._keys = {_name(key): AESGCM(key) for key in keys}
        self._first = next(iter(self._keys), None)

    @property
    def active(self) -> bool:
        return self._first is not None

    def seal(self, value: Any) -> Any:
        """A text, or a JSON value that is none, as a sealed text; empty and absent ones as they are."""
        if self._first is None or value in (None, "", [], {}) or (is_sealed(value) and self._of_first(value)):
            return value
        plain = self.open(value)
        prefix, text = (
            (PREFIX, plain) if isinstance(plain, str) else (JSON_PREFIX, json.dumps(plain, ensure_ascii=False))
        )
        nonce = os.urandom(_NONCE)
        body = nonce + self._keys[self._first].encrypt(nonce, text.encode(), _BOUND)
        return f"{prefix}{self._first}:{base64.urlsafe_b64encode(body).decode()}"

    def open(self, value: Any) -> Any:
        """The same value with every sealed text in it opened; a shut one reads MISSING, a shut JSON value None."""
        if isinstance(value, str):
            return self._open(value) if value.startswith(PREFIX) else value
        if isinstance(value, list):
            return [self.open(one) for one in value]
        if isinstance(value, dict):
            return {name: self.open(one) for name, one in value.items()}
        return value

    def sealed_params(self, function: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Parameters as they may be written."""
        if not self.active or function not in _WRITES or params.get("p_table", _RECORDS) != _RECORDS:
            return params
        changed: Any = dict(params)
        for path in _WRITES[function]:
            changed = _at(changed, path.replace("[]", ".[]").split("."), self.seal)
        return dict(changed)

    def _of_first(self, value: str) -> bool:
        return value.split(":")[-2] == self._first

    def _open(self, sealed: str) -> Any:
        is_json = sealed.startswith(JSON_PREFIX)
        shut = None if is_json else MISSING
        key, _, body = sealed.removeprefix(JSON_PREFIX if is_json else PREFIX).partition(":")
        if key not in self._keys:
            return shut
        try:
            data = base64.urlsafe_b64decode(body.encode())
            text = self._keys[key].decrypt(data[:_NONCE], data[_NONCE:], _BOUND).decode()
            return json.loads(text) if is_json else text
        except (InvalidTag, ValueError):
            return shut  # damaged, or no sealed text at all


def is_sealed(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(PREFIX)


def read_keys(text: str) -> tuple[bytes, ...]:
    """Keys of MEMORY_DESK_DATA_KEY, apart by commas, the one that seals first. Errors: ConfigError, without a value."""
    keys = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            key = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        except ValueError:
            key = b""
        if len(key) != KEY_BYTES:
            raise ConfigError(
                "MEMORY_DESK_DATA_KEY is no key.",
                hint="- It is 32 random bytes in base64, no passphrase: make one with `python -m core key new`.",
            )
        keys.append(key)
    return tuple(keys)


def new_key() -> str:
    """A key as MEMORY_DESK_DATA_KEY takes it."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode()


def _name(key: bytes) -> str:
    return hashlib.sha256(b"name of a key: " + key).hexdigest()[:8]


def _at(value: Any, path: list[str], do: Any) -> Any:
    if not path:
        return do(value)
    step, rest = path[0], path[1:]
    if step == "[]":
        return [_at(one, rest, do) for one in value] if isinstance(value, list) else value
    if not isinstance(value, Mapping) or step not in value:
        return value
    return {**value, step: _at(value[step], rest, do)}
