"""Filters and and/or trees of a query string, parsed into plain values. Pure; knows no table."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from core.local.gateway.errors import Failure
from core.local.gateway.grammar import Field, Scanner

SIMPLE = ("neq", "isdistinct", "cs", "cd", "ov", "sl", "sr", "nxr", "nxl", "adj")
QUANTIFIABLE = ("eq", "gte", "gt", "lte", "lt", "like", "ilike", "match", "imatch")
TEXT_SEARCH = ("plfts", "phfts", "wfts", "fts")
IS_WORDS = ("null", "not_null", "true", "false", "unknown")
EXPECTED = "operator (eq, gt, ...)"

OPERATOR = re.compile(r"([a-z]+)(?:\(([^)]*)\))?\.")
LIST_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?=[,)])', re.DOTALL)
LIST_BARE = re.compile(r"[^,)]*")
TREE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?=\s*[,)])', re.DOTALL)
ARRAY = re.compile(r"\{[^{}]*\}")
REST = re.compile(r".*", re.DOTALL)
BRANCH = re.compile(r"\s*(not\.)?(and|or)\s*\(")
MAX_DEPTH = 50


@dataclass(frozen=True)
class Comparison:
    """`field operator value`; `modifier` is any, all, or the language of a text search."""

    field: Field
    operator: str
    value: str | tuple[str, ...]
    negated: bool = False
    modifier: str | None = None


@dataclass(frozen=True)
class Tree:
    """Conditions joined by `and` or `or`."""

    joint: str
    children: tuple[Comparison | Tree, ...]
    negated: bool = False


Condition = Comparison | Tree


def parse_filter(field: Field, text: str) -> Comparison:
    """One parameter `column=op.value`. Errors: Failure 400 PGRST100."""
    scanner = Scanner(text, "filter")
    comparison = _operation(scanner, field, in_tree=False)
    if not scanner.done():
        raise scanner.failure("end of input")
    return comparison


def parse_tree(key: str, text: str) -> Tree:
    """A parameter such as `or=(a.eq.1,not.and(b.gt.2,c.is.null))`; `key` is and, or, not.and or not.or."""
    joint = key.removeprefix("not.")
    scanner = Scanner(text, "logic tree")
    scanner.skip_space()
    scanner.expect("(")
    tree = Tree(joint, _children(scanner, 1), negated=key != joint)
    if not scanner.done():
        raise scanner.failure("end of input")
    return tree


def _children(scanner: Scanner, depth: int) -> tuple[Condition, ...]:
    if depth > MAX_DEPTH:
        raise Failure(400, "PGRST100", f"A logic tree may be {MAX_DEPTH} levels deep.")
    children = [_condition(scanner, depth)]
    while True:
        scanner.skip_space()
        if scanner.take(")"):
            scanner.skip_space()
            return tuple(children)
        scanner.expect(",")
        children.append(_condition(scanner, depth))


def _condition(scanner: Scanner, depth: int) -> Condition:
    branch = scanner.match(BRANCH)
    if branch:
        words = branch.strip().removesuffix("(").strip()
        return Tree(words.removeprefix("not."), _children(scanner, depth + 1), words.startswith("not."))
    field = scanner.field()
    scanner.skip_space()
    scanner.expect(".")
    return _operation(scanner, field, in_tree=True)


def _operation(scanner: Scanner, field: Field, *, in_tree: bool) -> Comparison:
    negated = scanner.take("not.")
    start = scanner.at
    found = OPERATOR.match(scanner.text, scanner.at)
    if not found:
        raise scanner.failure(EXPECTED)
    operator, modifier = found.groups()
    scanner.at = found.end()
    blank = Comparison(field, operator, "", negated, modifier)
    if operator == "in" and modifier is None:
        return replace(blank, value=_list(scanner))
    if operator == "is" and modifier is None:
        return replace(blank, value=_is_word(scanner, in_tree))
    quantified = operator in QUANTIFIABLE and modifier in (None, "any", "all")
    language = operator in TEXT_SEARCH and (modifier is None or re.fullmatch(r"\w+", modifier))
    if quantified or language or (operator in SIMPLE and modifier is None):
        return replace(blank, value=_tree_value(scanner) if in_tree else scanner.match(REST) or "")
    scanner.at = start
    raise scanner.failure(EXPECTED)


def _list(scanner: Scanner) -> tuple[str, ...]:
    scanner.skip_space()
    scanner.expect("(")
    scanner.skip_space()
    if scanner.take(")"):
        return ()
    values = []
    while True:
        quoted = scanner.quoted(LIST_QUOTED)
        values.append(quoted if quoted is not None else scanner.match(LIST_BARE) or "")
        if scanner.take(")"):
            scanner.skip_space()
            return tuple(values)
        scanner.expect(",")


def _is_word(scanner: Scanner, in_tree: bool) -> str:
    start = scanner.at
    word = (_tree_value(scanner) if in_tree else scanner.match(REST) or "").strip().lower()
    if word not in IS_WORDS:
        scanner.at = start
        raise scanner.failure("null, not_null, true, false or unknown")
    return word


def _tree_value(scanner: Scanner) -> str:
    quoted = scanner.quoted(TREE_QUOTED)
    if quoted is not None:
        return quoted
    return scanner.match(ARRAY) or scanner.match(LIST_BARE) or ""
