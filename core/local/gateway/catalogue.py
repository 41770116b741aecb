"""Reads the catalogue into a Schema: one statement each for tables, functions and types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import psycopg

from core.local.gateway.schema import RESULT, SCHEMA, Argument, Column, Function, Relation, Schema, quote

# What PostgREST lifts from a function to the whole transaction; elsewhere it would start too late to count.
HOISTED = ("statement_timeout", "plan_filter.statement_cost_limit", "default_transaction_isolation")

TABLES = """
select c.relname,
  (select coalesce(json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attidentity <> ''
             then format('nextval(%L::regclass)', pg_get_serial_sequence(c.oid::regclass::text, a.attname))
           when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end) order by a.attnum), '[]')
     from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
  (select coalesce(json_agg(a.attname order by k.place), '[]')
     from pg_index i, unnest(i.indkey) with ordinality k(attnum, place), pg_attribute a
    where i.indrelid = c.oid and i.indisprimary and a.attrelid = c.oid and a.attnum = k.attnum)
from pg_class c where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'v', 'm', 'f', 'p')
"""

FUNCTIONS = """
select p.proname, coalesce(p.proargnames, '{}'), coalesce(p.proargmodes::text[], '{}'), p.pronargdefaults,
  array(select format_type(u.oid, -1) from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
        with ordinality u(oid, place) order by u.place),
  format_type(t.oid, null), p.proretset, p.provolatile = 'v', coalesce(p.proconfig, '{}'),
  case when t.typtype = 'c' then (
   select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod), null) order by a.attnum)
     from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) end
from pg_proc p join pg_type t on t.oid = p.prorettype
where p.pronamespace = to_regnamespace($1) and p.prokind = 'f'
  and t.oid not in ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
"""

TYPES = """
select t.typname, format_type(t.oid, null) from pg_type t
where t.typtype in ('b', 'd', 'e', 'r', 'm') and t.typname not like '\\_%'
  and t.typnamespace in (to_regnamespace('pg_catalog'), to_regnamespace('extensions'), to_regnamespace($1))
order by t.typnamespace <> to_regnamespace('pg_catalog')
"""


def read_schema(connection: psycopg.Connection[Any]) -> Schema:
    """The catalogue as it is now. An empty search path makes Postgres print every name qualified."""
    cursor = psycopg.RawCursor(connection)
    with connection.transaction():
        cursor.execute("set local search_path = ''")
        tables = cursor.execute(TABLES, [SCHEMA]).fetchall()
        functions = cursor.execute(FUNCTIONS, [SCHEMA]).fetchall()
        types = cursor.execute(TYPES, [SCHEMA]).fetchall()
    return Schema(
        tables={name: _table(name, columns, key) for name, columns, key in tables},
        functions=_by_name(_function(*row) for row in functions),
        types=_type_names(types),
    )


def _table(name: str, columns: list[list[str | None]], key: list[str]) -> Relation:
    return Relation(name, f"{quote(SCHEMA)}.{quote(name)}", _columns(columns), tuple(key))


def _columns(rows: list[Any]) -> dict[str, Column]:
    return {name: Column(name, kind, default) for name, kind, default in rows}


def _function(
    name: str,
    names: list[str],
    modes: list[str],
    defaults: int,
    types: list[str],
    returns: str,
    many: bool,
    volatile: bool,
    config: list[str],
    composite: list[Any] | None,
) -> Function:
    modes = modes or ["i"] * len(types)
    names = names or [""] * len(types)
    named = list(zip(names, modes, types, strict=True))
    inputs = [(n, mode, kind) for n, mode, kind in named if mode in "ibv"]
    outputs = [[n, kind, None] for n, mode, kind in named if mode in "obt"]
    columns = _columns(outputs or composite or []) or None
    return Function(
        name=name,
        arguments=tuple(
            Argument(n, kind, place < len(inputs) - defaults and mode != "v", mode == "v")
            for place, (n, mode, kind) in enumerate(inputs)
        ),
        columns=columns,
        many=many,
        void=returns == "void",
        volatile=volatile,
        settings=tuple((k, v) for k, _, v in (entry.partition("=") for entry in config) if k in HOISTED),
    )


def _by_name(functions: Iterator[Function]) -> dict[str, tuple[Function, ...]]:
    grouped: dict[str, tuple[Function, ...]] = {}
    for function in functions:
        grouped[function.name] = (*grouped.get(function.name, ()), function)
    return grouped


def _type_names(rows: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Both spellings of each type (int8 and bigint), the catalogue's own types before those of the other schemas."""
    names: dict[str, str] = {"int": "integer", "decimal": "numeric"}
    for short, sql in rows:
        names.setdefault(short, sql)
        names.setdefault(sql, sql)
    return names


def result_of(function: Function) -> Relation:
    """The result of a call as a relation; a scalar has one column of our own naming."""
    columns = function.columns if function.columns is not None else {RESULT: Column(RESULT, "")}
    return Relation(function.name, "pgrst_source", columns)
