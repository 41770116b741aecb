"""Dialogs by a random name of one conversation: a hash of two numbers can be guessed, and is a key besides.

Source: spec/companion.md, TI-8.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Mapping
from typing import Any

_KEY = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{64}(?![0-9A-Za-z])", re.IGNORECASE)
_ALIAS = re.compile(r"dialog-[0-9a-f]{6}")


class Aliases:
    """Of one conversation, mission run or client; thread-safe. Kept in memory, or given again by `as_json`."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._lock = threading.Lock()
        self._by_key: dict[str, str] = dict(known or {})
        self._by_alias = {alias: key for key, alias in self._by_key.items()}

    def of(self, key: str) -> str:
        """The name of a dialog key here."""
        with self._lock:
            if key not in self._by_key:
                alias = f"dialog-{secrets.token_hex(3)}"
                while alias in self._by_alias:
                    alias = f"dialog-{secrets.token_hex(3)}"
                self._by_key[key], self._by_alias[alias] = alias, key
            return self._by_key[key]

    def hide(self, value: Any) -> Any:
        """The same value with each hash in it replaced, in keys of objects too, and each field `dialog_key` whole."""
        if isinstance(value, Mapping):
            return {
                self.hide(name): self.of(found)
                if name in ("dialog_key", "key", "key_new", "key_legacy", "kept", "dropped") and isinstance(found, str)
                else self.hide(found)
                for name, found in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.hide(one) for one in value]
        return _KEY.sub(lambda found: self.of(found.group().lower()), value) if isinstance(value, str) else value

    def reveal(self, value: Any) -> Any:
        """The reverse, for what a model asks: names it was given become keys, any other stays as it is."""
        if isinstance(value, Mapping):
            return {name: self.reveal(found) for name, found in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.reveal(one) for one in value]
        return _ALIAS.sub(self._key, value) if isinstance(value, str) else value

    def as_json(self) -> dict[str, str]:
        """Key -> alias, to be kept with a conversation in the database."""
        with self._lock:
            return dict(self._by_key)

    def _key(self, found: re.Match[str]) -> str:
        with self._lock:
            return self._by_alias.get(found.group(), found.group())
