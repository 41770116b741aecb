"""Cutting SQL files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.local.statements import meaning, split

WHOLE = [
    "select 'a;b'",
    "select 'it''s; fine'",
    r"select E'\';'",
    'select 1 as "a;b"',
    "select $$;$$",
    "create function f() returns int language sql as $body$ select 1; select $$;$$::int; $body$",
    "select 1 /* ; /* ; */ ; */ + 1",
    "select 1 -- ; not here\n + 1",
    "create function g() returns int language sql begin atomic select 1; select case when true then 2 end; end",
    "select case when true then 1 end",
    "select a$b$c from t",
    "begin",
]


@pytest.mark.parametrize("sql", WHOLE)
def test_a_semicolon_inside_is_no_end(sql: str) -> None:
    """Quotes, dollar quotes, comments and atomic bodies stay whole, alone and between others."""
    assert [s.text for s in split(sql)] == [sql]
    assert [s.text for s in split(f"select 0;\n{sql}\n;\nselect 2;")] == ["select 0", sql, "select 2"]


def test_lines_are_counted_from_one() -> None:
    """Each statement knows where it begins, comments before it included."""
    assert [(s.line, s.text) for s in split("a;\n\nb;\n-- c\nd")] == [(1, "a"), (3, "b"), (4, "-- c\nd")]


def test_comments_and_blanks_alone_are_nothing() -> None:
    """A file of comments has no statement; an unclosed quote takes the rest."""
    assert split(" ;;\n-- only; this\n/* and; this */ ;") == []
    assert [s.text for s in split("select 'open; select 2;")] == ["select 'open; select 2;"]


def test_meaning_ignores_comments_and_blanks_and_nothing_else() -> None:
    """What another tool cut elsewhere means the same; a changed literal does not."""
    ours = ["-- why\ncreate table t (\n  a int)", "select 'x  y'"]
    theirs = ["create table t ( a int );", "/* z */ select 'x  y' ;"]
    assert meaning(ours) == meaning(theirs)
    assert meaning(["select 'x y'"]) != meaning(["select 'x  y'"])
    assert meaning(["select $$ a $$"]) != meaning(["select $$a$$"])


@given(st.lists(st.sampled_from(WHOLE), max_size=6), st.sampled_from([";", " ;\n", ";\n\n-- x\n"]))
def test_whatever_is_joined_is_cut_again(parts: list[str], between: str) -> None:
    """As many statements as were joined, and the same meaning."""
    found = [s.text for s in split(between.join(parts))]
    assert len(found) == len(parts)
    assert meaning(found) == meaning(parts)


def test_our_migrations_are_cut_without_loss() -> None:
    """Statements of each file together mean the file."""
    files = sorted((Path(__file__).parents[3] / "supabase/migrations").glob("*.sql"))
    assert files
    for path in files:
        sql = path.read_text(encoding="utf-8")
        assert meaning([s.text for s in split(sql)]) == meaning([sql]), path.name
