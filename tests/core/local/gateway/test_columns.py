"""The parser of select, order and column lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.local.gateway.columns import Ordered, Selected, parse_names, parse_order, parse_select
from core.local.gateway.errors import Failure
from core.local.gateway.grammar import Field


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [Selected(None)]),
        ("*", [Selected(None)]),
        ("a,b", [Selected(Field("a")), Selected(Field("b"))]),
        (" a , b ", [Selected(Field("a")), Selected(Field("b"))]),
        ("x:a", [Selected(Field("a"), "x")]),
        ("a::int", [Selected(Field("a"), None, "int")]),
        ("x:a::double precision", [Selected(Field("a"), "x", "double precision")]),
        ("a::text[]", [Selected(Field("a"), None, "text[]")]),
        ("a->b->>0", [Selected(Field("a", (("->", "b"), ("->>", 0))))]),
        ("a->-1", [Selected(Field("a", (("->", -1),)))]),
        ('"a,b":"c.d"', [Selected(Field("c.d"), "a,b")]),
        ("a-b", [Selected(Field("a-b"))]),
    ],
)
def test_select(text: str, expected: list[Selected]) -> None:
    """Fields, aliases, casts and paths."""
    assert list(parse_select(text, "t")) == expected


@pytest.mark.parametrize(
    ("text", "label"),
    [("a", None), ("x:a", "x"), ("a::int", "a"), ("a->b", "b"), ("a->b->>0", "b"), ("a->0", "a"), ("x:a->b", "x")],
)
def test_label(text: str, label: str | None) -> None:
    """A path is named by its last key, a cast by its column; a plain column needs no name."""
    assert parse_select(text, "t")[0].label == label


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("b(c)", "PGRST200"),
        ("x:b(c)", "PGRST200"),
        ("b!inner(c)", "PGRST200"),
        ("...b(c)", "PGRST200"),
        ("count()", "PGRST123"),
        ("a.sum()", "PGRST123"),
        ("a,,b", "PGRST100"),
        ("a,", "PGRST100"),
        ("a b(", "PGRST200"),
        ("a->", "PGRST100"),
        ("a;b", "PGRST100"),
    ],
)
def test_refused_select(text: str, code: str) -> None:
    """What is out of the slice has its own code; the rest is PGRST100."""
    with pytest.raises(Failure) as caught:
        parse_select(text, "t")
    assert caught.value.code == code


def test_order() -> None:
    """Directions and places of nulls, each optional."""
    assert parse_order("a,b.desc,c.nullslast,d->>e.asc.nullsfirst") == (
        Ordered(Field("a")),
        Ordered(Field("b"), "DESC"),
        Ordered(Field("c"), "", "NULLS LAST"),
        Ordered(Field("d", (("->>", "e"),)), "ASC", "NULLS FIRST"),
    )


@pytest.mark.parametrize(
    ("text", "code"), [("a.down", "PGRST100"), ("a.desc.x", "PGRST100"), ("a,", "PGRST100"), ("b(c).desc", "PGRST108")]
)
def test_refused_order(text: str, code: str) -> None:
    """An unknown word and an embedded table are refused."""
    with pytest.raises(Failure) as caught:
        parse_order(text)
    assert caught.value.code == code


def test_names() -> None:
    """Names come in order, quoted or not, each once."""
    assert parse_names('"b",a,"b","c,d"', "columns parameter") == ("b", "a", "c,d")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever the text, nothing but a Failure is raised."""
    for parse in (lambda: parse_select(text, "t"), lambda: parse_order(text), lambda: parse_names(text, "columns")):
        try:
            parse()
        except Failure as failure:
            assert failure.status == 400
