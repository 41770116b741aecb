"""Somebody's text inside a label."""

from __future__ import annotations

import pytest

from pages._shared.literal import literal, name


def read_span(span: str) -> str:
    """What CommonMark shows for a code span."""
    fence = span[: len(span) - len(span.lstrip("`"))]
    inner = span[len(fence) : -len(fence)]
    return inner[1:-1] if inner.startswith(" ") and inner.endswith(" ") and inner.strip() else inner


@pytest.mark.parametrize(
    "text",
    [
        "I paid $20, she paid $30 _and_ ~tip~ :red[x] #1 <b>",
        "a$b$c",
        "`",
        "``x`",
        "a ` b",
        ":smile: -> --",
        "*",
        "1001",
    ],
)
def test_a_code_span_gives_the_text_back(text: str) -> None:
    """Whatever the text holds, the span shows exactly it."""
    span = literal(text)
    assert read_span(span) == text


def test_the_fence_is_longer_than_no_run_of_the_text_needs() -> None:
    """The fence differs from every run of backticks inside, so it cannot close early."""
    assert literal("a`b``c").startswith("```a")


def test_lines_fold_and_nothing_stays_nothing() -> None:
    """A label is one line; an empty text is no empty code mark."""
    assert literal("a\n\nb") == "`a b`"
    assert literal(" \n") == ""


def test_an_id_of_letters_and_digits_needs_no_span() -> None:
    """Everything else does."""
    assert name("70114") == "70114"
    assert name("a_b_") == "`a_b_`"


def test_an_icon_stays_the_text_that_it_is() -> None:
    """Streamlit changes `:material/` in a code span too; an invisible joiner keeps it as it was written."""
    assert literal("a :material/home: b") == "`a :\u2060material/home: b`"
