"""SQL text for parsed pieces of a request. Values go out as numbered parameters of unknown type, never as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from core.local.gateway.columns import Ordered, Selected
from core.local.gateway.filters import TEXT_SEARCH, Comparison, Condition
from core.local.gateway.grammar import Field
from core.local.gateway.ranges import Window
from core.local.gateway.schema import Relation, Schema, quote

OPERATORS = {
    "eq": "=",
    "neq": "<>",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
    "like": "LIKE",
    "ilike": "ILIKE",
    "match": "~",
    "imatch": "~*",
    "isdistinct": "IS DISTINCT FROM",
    "cs": "@>",
    "cd": "<@",
    "ov": "&&",
    "sl": "<<",
    "sr": ">>",
    "nxr": "&<",
    "nxl": "&>",
    "adj": "-|-",
}
TO_TSQUERY = {
    "fts": "to_tsquery",
    "plfts": "plainto_tsquery",
    "phfts": "phraseto_tsquery",
    "wfts": "websearch_to_tsquery",
}


@dataclass
class Parameters:
    """The values of one statement, in the order of their numbers."""

    values: list[str] = field(default_factory=list)

    def add(self, value: str) -> str:
        self.values.append(value)
        return f"${len(self.values)}"


def array_literal(values: Iterable[str]) -> str:
    """Postgres' text form of an array, every element quoted, so that any text survives."""
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in escaped) + "}"


def field_sql(wanted: Field, relation: Relation, parameters: Parameters) -> str:
    """A column, qualified: in UPDATE .. FROM a bare name would be ambiguous."""
    column = relation.column(wanted.name)
    base = f"{relation.sql}.{column.sql}"
    if not wanted.path:
        return base
    text = base if column.type in ("json", "jsonb") else f"to_jsonb({base})"
    for arrow, key in wanted.path:
        text += f"{arrow}{parameters.add(str(key))}::{'int' if isinstance(key, int) else 'text'}"
    return f"({text})"


def select_sql(items: Iterable[Selected], relation: Relation, schema: Schema, parameters: Parameters) -> str:
    parts = []
    for item in items:
        if item.field is None:
            parts.append(f"{relation.sql}.*")
            continue
        text = field_sql(item.field, relation, parameters)
        if item.cast:
            text = f"CAST({text} AS {schema.type_sql(item.cast)})"
        parts.append(f"{text} AS {quote(item.label)}" if item.label else text)
    return ", ".join(parts)


def where_sql(conditions: Iterable[Condition], relation: Relation, parameters: Parameters) -> str:
    """` WHERE ...` or nothing."""
    parts = [condition_sql(condition, relation, parameters) for condition in conditions]
    return f" WHERE {' AND '.join(parts)}" if parts else ""


def condition_sql(condition: Condition, relation: Relation, parameters: Parameters) -> str:
    if isinstance(condition, Comparison):
        text = _comparison_sql(condition, relation, parameters)
    else:
        children = (condition_sql(child, relation, parameters) for child in condition.children)
        text = f"({f' {condition.joint.upper()} '.join(children)})"
    return f"NOT ({text})" if condition.negated else text


def order_sql(items: Iterable[Ordered], relation: Relation, parameters: Parameters) -> str:
    parts = [
        " ".join(filter(None, (field_sql(item.field, relation, parameters), item.direction, item.nulls)))
        for item in items
    ]
    return f" ORDER BY {', '.join(parts)}" if parts else ""


def window_sql(window: Window, parameters: Parameters) -> str:
    limit = "" if window.limit is None else f" LIMIT {parameters.add(str(window.limit))}"
    return limit + (f" OFFSET {parameters.add(str(window.offset))}" if window.offset else "")


def _comparison_sql(comparison: Comparison, relation: Relation, parameters: Parameters) -> str:
    left = field_sql(comparison.field, relation, parameters)
    operator, value = comparison.operator, comparison.value
    if not isinstance(value, str):
        return f"{left} = ANY({parameters.add(array_literal(value))})"
    if operator == "is":
        return f"{left} IS {value.upper().replace('_', ' ')}"
    if operator in TEXT_SEARCH:
        return _text_search_sql(comparison, left, value, relation, parameters)
    if operator in ("like", "ilike"):
        value = value.replace("*", "%")
    right = parameters.add(value)
    if comparison.modifier:
        right = f"{comparison.modifier.upper()}({right})"
    return f"{left} {OPERATORS[operator]} {right}"


def _text_search_sql(comparison: Comparison, left: str, value: str, relation: Relation, parameters: Parameters) -> str:
    """A column that is no tsvector is made one, in the same language as the query."""
    language = f"{parameters.add(comparison.modifier)}::regconfig, " if comparison.modifier else ""
    is_vector = not comparison.field.path and relation.column(comparison.field.name).type == "tsvector"
    document = left if is_vector else f"to_tsvector({language}{left})"
    return f"{document} @@ {TO_TSQUERY[comparison.operator]}({language}{parameters.add(value)})"
