"""Whether a text is too private for any model, whatever its class says. Source: spec/companion.md, TI-2."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from core.memory.tags import tags_of

Known = Callable[[list[str]], bool]

_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_KEY = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])")
_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.|\bdata:[a-z]+/)\S", re.IGNORECASE)
# A mark that opens stands before a word and behind none; what closes a short quotation opens no other.
_QUOTES = re.compile(
    "|".join(
        rf"{opening}[^{closing}]{{201,}}"
        for opening, closing in (
            (r'(?<![^\s([{:=,])"', '"'),
            ("“", "”"),
            ("„", "“”"),
            ("«", "»"),
            ("‘", "’"),
            (r"(?m:^[ \t]*)```", "`"),
        )
    )
)
_QUOTED_LINES = re.compile(r"(?:^[ \t]*>.*(?:\n|\Z))+", re.MULTILINE)
_LONG = 200
_WORDS = re.compile(r"[^\W_][\w.@-]*[^\W_]|[^\W_]")


def why_sensitive(texts: Iterable[str], known: Known | None = None, constant: Iterable[str] = ()) -> str | None:
    """What makes these texts sensitive, in words for a person, or None.

    Found are the theme words of memory tags, keys of dialogs, addresses, quotations beyond 200 characters, and what
    `known` says is an id or a name of somebody (asked once, with every word of all texts). A text that is JSON is
    looked at value by value: between its quotation marks stands no quotation. In texts that are `constant`, the
    product's own, words and names are only words.
    """
    folded = [_folded(part) for text in texts for part in _parts(text)]
    for text in folded:
        if reason := _by_form(text):
            return reason
    for text in constant:
        if _KEY.search(text) or _URL.search(text):
            return "its instructions hold a key or an address"
    if known is not None:
        words = words_of(folded)
        if words and known(words):
            return "it names a person of the memory"
    return None


def words_of(texts: Iterable[str]) -> list[str]:
    """Every word that may be an id or a name, in lower case, each once."""
    return list(dict.fromkeys(word for text in texts for word in _tokens(_folded(text))))


def _by_form(text: str) -> str | None:
    if len(tags_of("", text)) > 1:
        return "it holds words of a private theme"
    if _KEY.search(text):
        return "it holds the key of a dialog"
    if _URL.search(text):
        return "it holds an address"
    if _QUOTES.search(text) or any(len(found.group()) > _LONG for found in _QUOTED_LINES.finditer(text)):
        return "it quotes a long text"
    return None


def _parts(text: str) -> list[str]:
    if text.lstrip()[:1] not in ("{", "["):
        return [text]
    try:
        return list(_leaves(json.loads(text)))
    except (ValueError, RecursionError):
        return [text]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, found in value.items():
            yield name
            # As long as a chunk: a quotation, whatever stands around it.
            yield f'"{found}"' if isinstance(found, str) and len(found) > _LONG and name != "message" else ""
            yield from _leaves(found)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _folded(text: str) -> str:
    # Full-width letters and invisible characters hide a word from the eye of a pattern, not from a model.
    return _HIDDEN.sub("", unicodedata.normalize("NFKC", text))


def _tokens(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text):
        if len(word) >= 3:
            yield word.lower()
