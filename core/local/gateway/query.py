"""What a query string asks for, parsed: the part of a request that tables and functions share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from core.local.gateway.columns import Ordered, Selected, not_embedded, parse_names, parse_order, parse_select
from core.local.gateway.errors import Failure
from core.local.gateway.filters import Condition, parse_filter, parse_tree
from core.local.gateway.grammar import Field, Scanner
from core.local.gateway.ranges import Window, parse_window

TREES = ("and", "or", "not.and", "not.or")


@dataclass(frozen=True)
class Query:
    """`arguments` are those of a function called with GET; `columns` and `on_conflict` are None where not given."""

    select: tuple[Selected, ...] = (Selected(None),)
    conditions: tuple[Condition, ...] = ()
    order: tuple[Ordered, ...] = ()
    window: Window = field(default_factory=Window)
    columns: tuple[str, ...] | None = None
    on_conflict: tuple[str, ...] | None = None
    arguments: tuple[tuple[str, str], ...] = ()


def split(query: bytes) -> list[tuple[str, str]]:
    """The pairs of a query string. Errors: Failure 400 for bytes that are no UTF-8."""
    try:
        return parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Failure(400, "PGRST100", "The query string is not UTF-8.") from None


def parse_query(
    pairs: Iterable[tuple[str, str]], target: str, *, range_header: str | None = None, takes_arguments: bool = False
) -> Query:
    """Errors: Failure 400 PGRST1xx for what cannot be read, PGRST2xx for what is out of the slice, 416 PGRST103."""
    known: dict[str, str] = {}
    conditions: list[Condition] = []
    arguments: list[tuple[str, str]] = []
    for key, value in pairs:
        if key in ("select", "order", "limit", "offset", "columns", "on_conflict"):
            known[key] = value
        elif key in TREES:
            conditions.append(parse_tree(key, value))
        elif takes_arguments and not _is_filter(value):
            arguments.append((key, value))
        else:
            conditions.append(parse_filter(_filtered(key), value))
    return Query(
        select=parse_select(known.get("select", ""), target),
        conditions=tuple(conditions),
        order=parse_order(known["order"]) if known.get("order") else (),
        window=parse_window(known.get("limit"), known.get("offset"), range_header),
        columns=parse_names(known["columns"], "columns parameter") if known.get("columns") else None,
        on_conflict=parse_names(known["on_conflict"], "on_conflict parameter") if known.get("on_conflict") else None,
        arguments=tuple(arguments),
    )


def _filtered(key: str) -> Field:
    scanner = Scanner(key, "filter")
    field = scanner.field()
    if not scanner.done():
        if scanner.take("."):
            raise not_embedded(field.name)
        raise scanner.failure("end of input")
    return field


def _is_filter(value: str) -> bool:
    try:
        parse_filter(Field(""), value)
    except Failure:
        return False
    return True
