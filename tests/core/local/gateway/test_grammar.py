"""The cursor's tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.local.gateway.errors import Failure
from core.local.gateway.grammar import Field, Scanner


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("a", Field("a")),
        ("a b ", Field("a b")),
        ("a-b->c", Field("a-b", (("->", "c"),))),
        ("ключ", Field("ключ")),
        ('"a.b"->>"c.d"', Field("a.b", (("->>", "c.d"),))),
        ("a->1->>b-c", Field("a", (("->", 1), ("->>", "b-c")))),
        ("a->1b", Field("a", (("->", "1b"),))),
    ],
)
def test_field(text: str, field: Field) -> None:
    """Names with spaces, dashes and any letters; paths of keys and indexes."""
    scanner = Scanner(text, "field")
    assert scanner.field() == field and scanner.done()


@pytest.mark.parametrize("text", ["", " ", ".a", "->a", "(", ","])
def test_no_name(text: str) -> None:
    """An empty name is refused, and the message says where."""
    with pytest.raises(Failure) as caught:
        Scanner(text, "field").name()
    assert "column" in caught.value.message


@given(st.text())
def test_quoting(text: str) -> None:
    """Any text in quotes, with quotes and backslashes escaped, is read as it was."""
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert Scanner(quoted, "name").quoted() == text
