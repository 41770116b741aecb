"""Select lists, orders and column lists of a query string, parsed into plain values. Pure; knows no table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.local.gateway.errors import Failure
from core.local.gateway.grammar import Field, Scanner

AGGREGATES = ("count", "sum", "avg", "min", "max")
ALIAS = re.compile(r'("(?:[^"\\]|\\.)*"|[\w $]+(?:-(?!>)[\w $]+)*)\s*:(?!:)')
CAST = re.compile(r"::\s*([A-Za-z_][\w ]*(?:\[\])?)")
DIRECTION = re.compile(r"\.(asc|desc)(?=$|[,.])")
NULLS = re.compile(r"\.(nullsfirst|nullslast)(?=$|,)")


@dataclass(frozen=True)
class Selected:
    """One item of `select`: a field (None means *), its name in the answer and a cast, both optional."""

    field: Field | None
    alias: str | None = None
    cast: str | None = None

    @property
    def label(self) -> str | None:
        """The key in the answer: the alias, else the last key of a JSON path, else the column's own name (None)."""
        if self.alias or self.field is None:
            return self.alias
        keys = [str(key) for _, key in self.field.path if isinstance(key, str)]
        return (keys[-1] if keys else self.field.name) if self.field.path or self.cast else None


@dataclass(frozen=True)
class Ordered:
    """One item of `order`; direction and place of the nulls are SQL words, empty where not given."""

    field: Field
    direction: str = ""
    nulls: str = ""


def parse_select(text: str, table: str) -> tuple[Selected, ...]:
    """Errors: Failure PGRST100 (unreadable), PGRST200 (embedding: not in this slice), PGRST123 (aggregates)."""
    scanner = Scanner(text, "select parameter")
    if not text.strip():
        return (Selected(None),)
    items = [_selected(scanner, table)]
    while not scanner.done():
        scanner.expect(",")
        items.append(_selected(scanner, table))
    return tuple(items)


def _selected(scanner: Scanner, table: str) -> Selected:
    scanner.skip_space()
    if scanner.take("*"):
        scanner.skip_space()
        return Selected(None)
    if scanner.take("..."):
        raise no_embedding(table, scanner.name())
    alias = None
    found = ALIAS.match(scanner.text, scanner.at)
    if found:
        alias = Scanner(found.group(1), "alias").name()
        scanner.at = found.end()
    field = scanner.field()
    if scanner.take("("):
        if field.name == "count":
            raise no_aggregates()
        raise no_embedding(table, field.name)
    if scanner.take("!"):
        raise no_embedding(table, field.name)
    if scanner.take("."):
        if scanner.name() in AGGREGATES:
            raise no_aggregates()
        raise scanner.failure("aggregate function")
    cast = CAST.match(scanner.text, scanner.at)
    if cast:
        scanner.at = cast.end()
    scanner.skip_space()
    return Selected(field, alias, cast.group(1).strip() if cast else None)


def parse_order(text: str) -> tuple[Ordered, ...]:
    """`a.desc.nullslast,b->>c`. Errors: Failure PGRST100; PGRST108 for an order by an embedded table."""
    scanner = Scanner(text, "order")
    items = []
    while True:
        field = scanner.field()
        if scanner.take("("):
            raise not_embedded(field.name)
        direction = (scanner.match(DIRECTION) or "").lstrip(".").upper()
        nulls = (scanner.match(NULLS) or "").lstrip(".")
        items.append(Ordered(field, direction, {"nullsfirst": "NULLS FIRST", "nullslast": "NULLS LAST"}.get(nulls, "")))
        scanner.skip_space()
        if scanner.done():
            return tuple(items)
        if not scanner.take(","):
            raise scanner.failure("asc, desc, nullsfirst or nullslast")


def parse_names(text: str, what: str) -> tuple[str, ...]:
    """`columns` and `on_conflict`: names with commas between them, in order, each once."""
    scanner = Scanner(text, what)
    names = [scanner.name()]
    while not scanner.done():
        scanner.expect(",")
        names.append(scanner.name())
    return tuple(dict.fromkeys(names))


def no_embedding(table: str, other: str) -> Failure:
    return Failure(
        400,
        "PGRST200",
        f"Could not find a relationship between '{table}' and '{other}' in the schema cache",
        details="The embedded database does not join other tables into an answer; use a function instead.",
    )


def no_aggregates() -> Failure:
    return Failure(400, "PGRST123", "Use of aggregate functions is not allowed")


def not_embedded(name: str) -> Failure:
    return Failure(
        400,
        "PGRST108",
        f"'{name}' is not an embedded resource in this request",
        hint=f"Verify that '{name}' is included in the 'select' query parameter.",
    )
