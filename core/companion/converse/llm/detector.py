"""Whether a text is too private for any model, whatever its class says. Source: spec/companion.md, TI-2."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

from core.memory.tags import tags_of

Known = Callable[[list[str]], bool]

_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_KEY = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])")
_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.|\bdata:[a-z]+/)\S", re.IGNORECASE)
_QUOTES = re.compile(
    "|".join(
        rf"{opening}[^{closing}]{{201,}}"
        for opening, closing in (('"', '"'), ("“", "”"), ("„", "“”"), ("«", "»"), ("‘", "’"), ("```", "`"))
    )
)
_QUOTED_LINES = re.compile(r"(?:^[ \t]*>.*(?:\n|\Z))+", re.MULTILINE)
_LONG = 200
_WORDS = re.compile(r"[^\W_][\w.@-]*[^\W_]|[^\W_]")


def why_sensitive(texts: Iterable[str], known: Known | None = None, constant: Iterable[str] = ()) -> str | None:
    """What makes these texts sensitive, in words for a person, or None.

    Found are the theme words of memory tags, keys of dialogs, addresses, quotations beyond 200 characters, and what
    `known` says is an id or a name of somebody (asked once, with every word of all texts). In texts that are
    `constant` names are only words.
    """
    folded = [_folded(text) for text in texts]
    for text in (*folded, *constant):
        if reason := _by_form(text):
            return reason
    if known is not None:
        words = list(dict.fromkeys(word for text in folded for word in _tokens(text)))
        if words and known(words):
            return "it names a person of the memory"
    return None


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


def _folded(text: str) -> str:
    # Full-width letters and invisible characters hide a word from the eye of a pattern, not from a model.
    return _HIDDEN.sub("", unicodedata.normalize("NFKC", text))


def _tokens(text: str) -> Iterator[str]:
    for word in _WORDS.findall(text):
        if len(word) >= 3:
            yield word.lower()
