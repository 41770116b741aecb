"""Somebody's text inside a label: shown character for character. Pure.

A label (expander, option, toast) is Markdown; escaping is not enough there, since Streamlit also turns `:smile:`, `->`
and `--` into other signs after the parse. A code span is left alone by all of it. Whole texts go through st.text.
"""

from __future__ import annotations

import re

_BETWEEN = re.compile(r"(?<= )·(?= )|(?<=\w)-(?=\w)")  # no Markdown in a line that begins with a letter


def literal(text: str) -> str:
    """A Markdown code span that shows `text` as it is, on one line; an empty text gives an empty label."""
    line = " ".join(text.split())
    if not line:
        return ""
    # The one thing that is changed inside a code span as well (`:material_`): an invisible joiner keeps it apart.
    line = line.replace(":material/", ":\u2060material/")
    runs = {len(run) for run in re.findall(r"`+", line)}
    fence = "`" * next(n for n in range(1, len(runs) + 2) if n not in runs)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def name(text: str) -> str:
    """An id inside a heading: as plain words where it is letters and digits, which no Markdown changes."""
    return text if re.fullmatch(r"[A-Za-z0-9]+", text) else literal(text)


def words(text: str) -> str:
    """A name inside a label: as plain words where it is letters, digits and single spaces: no Markdown then."""
    plain = bool(text) and "  " not in text and all(c.isalnum() or c == " " for c in _BETWEEN.sub("", text))
    return text if plain else literal(text)
