"""Cut a SQL file into its statements, as the Supabase CLI does before it records them."""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*)
  | (?P<block>/\*)
  | (?P<escaped>\b[eE]'(?:[^'\\]|\\.|'')*'?)
  | (?P<quoted>'(?:[^']|'')*'?)
  | (?P<name>"(?:[^"]|"")*"?)
  | (?P<dollar>(?<![\w$])\$(?:[^\W\d]\w*)?\$)
  | (?P<word>[^\W\d][\w$]*)
  | (?P<end>;)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Statement:
    """Its text without the closing semicolon, the line of the file where it begins (from 1), its first word."""

    text: str
    line: int
    verb: str


def split(sql: str) -> list[Statement]:
    """Statements in file order; comments stay with the statement that follows, a file of comments has none.

    Semicolons inside quotes, dollar quotes, (nested) comments and `begin atomic ... end` bodies do not count. Pure.
    """
    found: list[Statement] = []
    start = at = 0
    words = 0  # comments and blanks alone are no statement
    depth = 0  # of `begin atomic` and of `case` within it
    previous = verb = ""

    def close(end: int) -> None:
        text = sql[start:end].strip()
        if words and text:
            first = len(sql[:start]) + len(sql[start:end]) - len(sql[start:end].lstrip())
            found.append(Statement(text, sql.count("\n", 0, first) + 1, verb))

    while (token := TOKEN.search(sql, at)) is not None:
        if sql[at : token.start()].strip():
            words += 1
        at = token.end()
        kind = token.lastgroup
        if kind == "comment":
            continue
        if kind == "block":
            at = _after_comment(sql, at)
            continue
        if kind == "dollar":
            closing = sql.find(token.group(), at)
            at = len(sql) if closing < 0 else closing + len(token.group())
        elif kind == "word":
            word = token.group().lower()
            verb = verb or word
            if (word == "atomic" and previous == "begin") or (depth and word == "case"):
                depth += 1
            elif depth and word == "end":
                depth -= 1
            previous = word
        elif kind == "end" and not depth:
            close(token.start())
            start, words, previous, verb = at, 0, "", ""
            continue
        words += 1
    if sql[at:].strip():
        words += 1
    close(len(sql))
    return found


def meaning(statements: list[str]) -> str:
    """The text of a migration without comments, white space and semicolons: equal for two files that do the same.

    Quoted text is kept as it stands. The recorded statements may have been cut by another tool.
    """
    sql = ";\n".join(statements)
    kept: list[str] = []
    at = 0
    while (token := TOKEN.search(sql, at)) is not None:
        kept.append("".join(sql[at : token.start()].split()))
        at = token.end()
        kind = token.lastgroup
        if kind == "block":
            at = _after_comment(sql, at)
        elif kind == "dollar":
            closing = sql.find(token.group(), at)
            stop = len(sql) if closing < 0 else closing + len(token.group())
            kept.append(sql[token.start() : stop])
            at = stop
        elif kind not in ("comment", "end"):
            kept.append(token.group())
    kept.append("".join(sql[at:].split()))
    return "".join(kept)


def _after_comment(sql: str, at: int) -> int:
    """Block comments nest in Postgres."""
    depth = 1
    for mark in re.finditer(r"/\*|\*/", sql[at:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return at + mark.end()
    return len(sql)
