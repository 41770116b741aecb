"""Where the parts of a payload are looked for; how a request's arguments are read. Source: spec/memory.md section 4."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Never

from core.errors import InputError
from core.memory.sources import ID_LIMIT
from core.memory.text import is_unstorable, scalar

PLACES: tuple[tuple[str, ...], ...] = (("data", "favorite"), ("favorite",), ("data",), ())


def json_argument(body: Mapping[str, Any], name: str) -> Any:
    """`conversationJson` or `profileJson`, parsed where it came as text; None where it is absent, null or empty text.

    Errors: InputError naming the field for text that is not JSON, and for anything but an object or a list.
    """
    value = body.get(name)
    if isinstance(value, str):
        text = value.removeprefix("\ufeff").strip()
        if not text:
            return None
        value = _parse(text, name)
        if value is None:
            raise InputError(
                f"{name} is the JSON value null.", hint="Send an object, or leave the field out.", field=name
            )
    if value is None or isinstance(value, (Mapping, list)):
        return value
    raise InputError(f"{name} is neither an object nor a list.", hint="Send JSON, as text or as it is.", field=name)


def request_text(body: Mapping[str, Any], name: str, limit: int = ID_LIMIT) -> str | None:
    """A text or number of the request itself, trimmed; None where it is absent, null or shows nothing.

    Errors: InputError naming the field for another type, more than `limit` characters, or what cannot be stored.
    """
    value = body.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, str):
        if is_unstorable(value):
            raise InputError(
                f"{name} holds a character that cannot be stored (NUL or half a surrogate pair).", field=name
            )
    elif scalar(value) is None:
        raise InputError(f"{name} is neither text nor a number.", field=name)
    text = scalar(value)
    if text is not None and len(text) > limit:
        raise InputError(f"{name} is longer than {limit} characters.", field=name)
    return text


def at(root: Any, path: Sequence[str]) -> Any:
    """The value at a path of keys, or None where any step is missing or no object."""
    for key in path:
        if not isinstance(root, Mapping):
            return None
        root = root.get(key)
    return root


def everywhere(root: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """(name, value) of every place that has something under one of the names: place by place, in the names' order."""
    for place in PLACES:
        for name in names:
            value = at(root, (*place, name))
            if value is not None:
                yield name, value


def _parse(text: str, name: str) -> Any:
    def refuse(_: str) -> Never:
        raise ValueError("NaN and Infinity are no JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        pass
    # Raised out here, without a context: the decoder's error carries the whole document, which is somebody's dialog.
    raise InputError(f"{name} is not valid JSON.", hint="Check the text, or send it parsed.", field=name)
