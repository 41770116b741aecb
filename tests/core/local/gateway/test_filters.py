"""The parser of filters and logic trees: what it makes of a text, and that nothing but a Failure comes of nonsense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.local.gateway.errors import Failure
from core.local.gateway.filters import MAX_DEPTH, Comparison, Condition, Tree, parse_filter, parse_tree
from core.local.gateway.grammar import Field

A = Field("a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eq.1", Comparison(A, "eq", "1")),
        ("eq.", Comparison(A, "eq", "")),
        ("eq.x.y,z)", Comparison(A, "eq", "x.y,z)")),
        ('eq."q"', Comparison(A, "eq", '"q"')),
        ("eq.line\nline", Comparison(A, "eq", "line\nline")),
        ("not.eq.1", Comparison(A, "eq", "1", negated=True)),
        ("in.(1,2)", Comparison(A, "in", ("1", "2"))),
        ("in.()", Comparison(A, "in", ())),
        ("in.(,)", Comparison(A, "in", ("", ""))),
        ('in.("a,b","c\\"d","e\\\\f")', Comparison(A, "in", ("a,b", 'c"d', "e\\f"))),
        ('in.("a"b,c)', Comparison(A, "in", ('"a"b', "c"))),
        ("in.( 1,2)", Comparison(A, "in", ("1", "2"))),
        ("is.NULL", Comparison(A, "is", "null")),
        ("is.not_null", Comparison(A, "is", "not_null")),
        ("like(any).{a*,b}", Comparison(A, "like", "{a*,b}", modifier="any")),
        ("wfts(english).x or y", Comparison(A, "wfts", "x or y", modifier="english")),
        ("fts.x", Comparison(A, "fts", "x")),
        ("cs.{a,b}", Comparison(A, "cs", "{a,b}")),
        ("isdistinct.1", Comparison(A, "isdistinct", "1")),
    ],
)
def test_filter(text: str, expected: Comparison) -> None:
    """A parameter's value becomes operator, value, negation and modifier."""
    assert parse_filter(A, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "eq",
        "1",
        "foo.1",
        "not.foo.1",
        "in.1",
        "in.(1",
        "in.(1)x",
        "is.x",
        "neq(any).1",
        "eq(some).1",
        "fts(a b).x",
        "not.",
    ],
)
def test_no_filter(text: str) -> None:
    """What is no filter is 400 PGRST100."""
    with pytest.raises(Failure) as caught:
        parse_filter(A, text)
    assert (caught.value.status, caught.value.code) == (400, "PGRST100")


def test_tree() -> None:
    """Nesting, negation at each level, lists, quotes and array literals."""
    tree = parse_tree("not.or", '(a.eq.1,not.and(b.in.(1,"2,3"),c.not.is.null),d->>e.like."x)",t.cs.{1,2})')
    inner = Tree("and", (Comparison(Field("b"), "in", ("1", "2,3")), Comparison(Field("c"), "is", "null", True)), True)
    path = Comparison(Field("d", (("->>", "e"),)), "like", "x)")
    expected = Tree("or", (Comparison(A, "eq", "1"), inner, path, Comparison(Field("t"), "cs", "{1,2}")), True)
    assert tree == expected


@pytest.mark.parametrize(
    "text", ["", "a.eq.1", "(", "()", "(a)", "(a.eq.1", "(a.eq.1,)", "(a.eq.1))", "(or)", "(a.eq.1;b.eq.2"]
)
def test_no_tree(text: str) -> None:
    """An unbalanced or empty tree is 400 PGRST100."""
    with pytest.raises(Failure) as caught:
        parse_tree("or", text)
    assert caught.value.code == "PGRST100"


def test_depth_is_limited() -> None:
    """A tree deeper than MAX_DEPTH is refused instead of exhausting the stack."""
    with pytest.raises(Failure):
        parse_tree("or", "(or" * MAX_DEPTH * 100 + "(a.eq.1)" + ")" * MAX_DEPTH * 100)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever the text, the result is a condition or a Failure 400."""
    for parse in (lambda: parse_filter(A, text), lambda: parse_tree("or", f"({text})")):
        try:
            parse()
        except Failure as failure:
            assert failure.status == 400


@given(st.lists(st.text(), min_size=1))
def test_quoted_lists_survive(values: list[str]) -> None:
    """Any texts, quoted as clients quote them, come out of in.() as they went in."""
    quoted = ",".join('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values)
    assert parse_filter(A, f"in.({quoted})").value == tuple(values)


comparisons = st.builds(
    Comparison,
    st.builds(Field, st.sampled_from(["a", "b c", "ю"])),
    st.sampled_from(["eq", "neq", "like"]),
    st.text(min_size=1),
    st.booleans(),
)
trees = st.recursive(
    comparisons,
    lambda child: st.builds(
        Tree, st.sampled_from(["and", "or"]), st.lists(child, min_size=1).map(tuple), st.booleans()
    ),
    max_leaves=20,
)


def written(condition: Condition) -> str:
    if isinstance(condition, Tree):
        inner = ",".join(map(written, condition.children))
        return f"{'not.' if condition.negated else ''}{condition.joint}({inner})"
    value = str(condition.value).replace("\\", "\\\\").replace('"', '\\"')
    return f'{condition.field.name}.{"not." if condition.negated else ""}{condition.operator}."{value}"'


@given(trees)
def test_a_tree_written_out_is_read_back(tree: Condition) -> None:
    """Writing a tree in PostgREST's syntax and parsing it gives the same tree."""
    assert parse_tree("or", f"({written(tree)})").children == (tree,)
