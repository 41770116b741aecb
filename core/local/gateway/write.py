"""The statements of POST, PATCH and DELETE on a table."""

from __future__ import annotations

from collections.abc import Sequence

from core.local.gateway.accept import Accepted
from core.local.gateway.errors import Failure
from core.local.gateway.payload import Payload
from core.local.gateway.preferences import Preferences
from core.local.gateway.query import Query
from core.local.gateway.schema import Column, Relation, Schema, quote
from core.local.gateway.sql import Parameters, order_sql, select_sql, where_sql, window_sql
from core.local.gateway.statement import Statement, first_json, rows_json

# Counts inserted rows in a setting of the transaction: each row to write adds one, each row updated instead takes it
# back. A helper column in RETURNING would leak into select=*, and xmax fails on partitioned tables.
_COUNTER = "coalesce(nullif(current_setting('pgrst.inserted', true), '')::int, 0)"
COUNT_UP = f"set_config('pgrst.inserted', ({_COUNTER} + 1)::text, true) <> '0'"
COUNT_DOWN = f"set_config('pgrst.inserted', ({_COUNTER} - 1)::text, true) <> '-1'"


def insert_statement(
    table: Relation, query: Query, payload: Payload, schema: Schema, accepted: Accepted, wants: Preferences
) -> Statement:
    """One row or many; with a resolution, rows that exist are updated or left alone."""
    parameters = Parameters()
    columns = _written(table, query, payload)
    names = ", ".join(c.sql for c in columns)
    target = f"{table.sql}({names})" if columns else table.sql
    keys = query.on_conflict or table.primary_key
    merges = wants.resolution == "merge-duplicates" and bool(keys)
    source = _body_sql(columns, payload.as_array(), parameters, defaults=wants.missing == "default")
    text = f"INSERT INTO {target} SELECT {', '.join(f'pgrst_body.{c.sql}' for c in columns)} FROM {source}"
    if merges:
        text += f" WHERE {COUNT_UP}"
    if wants.resolution and keys:
        text += f" ON CONFLICT({', '.join(_conflict_column(table, key) for key in keys)})"
        if merges and columns:
            updates = ", ".join(f"{c.sql} = EXCLUDED.{c.sql}" for c in columns)
            text += f" DO UPDATE SET {updates} WHERE {COUNT_DOWN}"
        else:
            text += " DO NOTHING"
    return _answered(text, table, query, schema, accepted, wants, parameters, inserted=merges)


def update_statement(
    table: Relation, query: Query, payload: Payload, schema: Schema, accepted: Accepted, wants: Preferences
) -> Statement:
    """Every filter names the table, as the body may have columns of the same name."""
    parameters = Parameters()
    columns = _written(table, query, payload)
    if not columns:  # {} and []: nothing to set, so nothing happens
        text = f"SELECT {table.sql}.* FROM {table.sql} WHERE false"
        return _answered(text, table, query, schema, accepted, wants, parameters, returning=False)
    sets = ", ".join(f"{c.sql} = pgrst_body.{c.sql}" for c in columns)
    source = _body_sql(columns, payload.as_array(), parameters, defaults=False)
    where = where_sql(query.conditions, table, parameters)
    names = ", ".join(c.sql for c in columns)
    text = f"UPDATE {table.sql} SET {sets} FROM (SELECT {names} FROM {source} LIMIT 1) pgrst_body{where}"
    return _answered(text, table, query, schema, accepted, wants, parameters)


def delete_statement(
    table: Relation, query: Query, schema: Schema, accepted: Accepted, wants: Preferences
) -> Statement:
    parameters = Parameters()
    text = f"DELETE FROM {table.sql}{where_sql(query.conditions, table, parameters)}"
    return _answered(text, table, query, schema, accepted, wants, parameters)


def _written(table: Relation, query: Query, payload: Payload) -> list[Column]:
    """The columns to write: those of ?columns, else the keys of the body. Errors: Failure 400 PGRST204."""
    columns = []
    for name in query.columns if query.columns is not None else payload.keys():
        column = table.columns.get(name)
        if column is None:
            raise Failure(400, "PGRST204", f"Could not find the '{name}' column of '{table.name}' in the schema cache")
        columns.append(column)
    return columns


def _conflict_column(table: Relation, name: str) -> str:
    if name not in table.columns:
        raise Failure(400, "42703", f'column "{name}" does not exist')
    return table.columns[name].sql


def _body_sql(columns: Sequence[Column], body: str, parameters: Parameters, *, defaults: bool) -> str:
    """The body as rows with the types of the table's columns; without columns, as many empty rows."""
    value = f"{parameters.add(body)}::json"
    if not columns:
        return f"json_array_elements({value}) pgrst_body"
    types = ", ".join(f"{c.sql} {c.type}" for c in columns)
    given = [c for c in columns if c.default is not None]
    if not defaults or not given:
        return f"json_to_recordset({value}) AS pgrst_body({types})"
    pairs = ", ".join(f"{parameters.add(c.name)}::text, {c.default}" for c in given)
    filled = f"SELECT jsonb_agg(jsonb_build_object({pairs}) || row_) FROM jsonb_array_elements({value}::jsonb) row_"
    return f"jsonb_to_recordset(({filled})) AS pgrst_body({types})"


def _answered(
    change: str,
    table: Relation,
    query: Query,
    schema: Schema,
    accepted: Accepted,
    wants: Preferences,
    parameters: Parameters,
    *,
    inserted: bool = False,
    returning: bool = True,
) -> Statement:
    """The change as a CTE, and what the client wants back of it. Rows changed are not capped."""
    counted = _COUNTER if inserted else "null"
    if wants.returned != "representation":
        back = _key_json(table) if wants.returned == "headers-only" else "null"
        keys = ", ".join(f"{table.sql}.{quote(key)}" for key in table.primary_key) or "1"
        change += f" RETURNING {keys if wants.returned == 'headers-only' else '1'}" if returning else ""
        sql = (
            f"WITH pgrst_source AS ({change}) SELECT null::bigint, count(*), null, {counted}, {back} FROM pgrst_source"
        )
        return Statement(sql, parameters, read_only=False)
    change += f" RETURNING {_returned(query, table)}" if returning else ""
    source = table.renamed("pgrst_source")
    shown = (
        f"SELECT {select_sql(query.select, source, schema, parameters)} FROM pgrst_source"
        f"{order_sql(query.order, source, parameters)}{window_sql(query.window, parameters)}"
    )
    json = first_json(accepted.strip) if accepted.single else rows_json(accepted.strip)
    return Statement(
        f"WITH pgrst_source AS ({change}) SELECT (SELECT count(*) FROM pgrst_source), count(*), {json}, {counted}, null"
        f" FROM ({shown}) _postgrest_t",
        parameters,
        read_only=False,
    )


def _returned(query: Query, table: Relation) -> str:
    """Only the columns that select and order use: RETURNING asks for the right to read each of them."""
    if any(item.field is None for item in query.select):
        return f"{table.sql}.*"
    names = [item.field.name for item in query.select if item.field] + [item.field.name for item in query.order]
    return ", ".join(f"{table.sql}.{table.column(name).sql}" for name in dict.fromkeys(names))


def _key_json(table: Relation) -> str:
    """The key of the first changed row as JSON, for the Location header."""
    pairs = ", ".join(f"'{key.replace(chr(39), chr(39) * 2)}', {quote(key)}" for key in table.primary_key)
    return f"(SELECT json_build_object({pairs})::text FROM pgrst_source LIMIT 1)" if pairs else "null"
