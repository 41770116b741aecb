"""Which fields of a payload are personal as a whole, by their names. Any other text in it is looked at as text."""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_WHOLE = {
    "name": "name", "firstname": "name", "lastname": "name", "surname": "name", "fullname": "name", "nickname": "name",
    "nick": "name", "login": "name", "username": "name", "author": "name", "sendername": "name", "displayname": "name",
    "email": "e-mail", "mail": "e-mail", "phone": "phone", "tel": "phone", "telephone": "phone", "mobile": "phone",
    "url": "link", "link": "link", "href": "link", "avatar": "link", "photourl": "link", "src": "link",
    "id": "id", "uid": "id", "uuid": "id",
}  # fmt: skip
# What a field is a name of: of something, not of somebody.
_OF_SOMETHING = {"file", "model", "field", "event", "tool", "page", "host", "phase", "type", "source", "app", "key"}


def kind_of_field(name: str) -> str | None:
    """The kind of what stands under this name, None where it is to be read as text."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or _OF_SOMETHING & set(words[:-1]):
        return None
    return _WHOLE.get("".join(words)) or _WHOLE.get(words[-1])
