"""A whole query string."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.local.gateway.errors import Failure
from core.local.gateway.query import parse_query, split
from core.local.gateway.ranges import Window


def test_parts() -> None:
    """Reserved words, filters in order, trees; encoded signs are decoded once."""
    query = parse_query(
        split(b"select=a&b=eq.x%2By+z&or=(a.eq.1)&order=a&limit=3&columns=%22a%22&on_conflict=a,b"), "t"
    )
    assert (query.window, query.columns, query.on_conflict) == (Window(0, 3), ("a",), ("a", "b"))
    assert len(query.conditions) == 2 and query.conditions[0].value == "x+y z"  # type: ignore[union-attr]


def test_empty() -> None:
    """Nothing asked for is everything."""
    query = parse_query([], "t")
    assert (query.columns, query.on_conflict, query.order, query.conditions) == (None, None, (), ())


def test_arguments() -> None:
    """With GET on a function a value that is no filter is an argument."""
    query = parse_query(split(b"a=1&b=eq.1&c=&d=is.late"), "f", takes_arguments=True)
    assert query.arguments == (("a", "1"), ("c", ""), ("d", "is.late")) and len(query.conditions) == 1


@pytest.mark.parametrize("query", [b"a=%ff", b"\xff=1"])
def test_no_utf8(query: bytes) -> None:
    """Bytes that are no text are 400."""
    with pytest.raises(Failure) as caught:
        split(query)
    assert caught.value.status == 400


@given(st.lists(st.tuples(st.text(), st.text())))
def test_any_pairs_are_read_or_refused(pairs: list[tuple[str, str]]) -> None:
    """Nothing but a Failure comes of nonsense."""
    try:
        parse_query(pairs, "t")
    except Failure as failure:
        assert failure.status in (400, 416)
