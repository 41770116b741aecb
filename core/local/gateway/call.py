"""The statement of a function call: POST with named arguments in JSON, GET and HEAD with them in the query string."""

from __future__ import annotations

from core.local.gateway.accept import Accepted
from core.local.gateway.catalogue import result_of
from core.local.gateway.errors import Failure
from core.local.gateway.payload import Payload, invalid
from core.local.gateway.preferences import Preferences
from core.local.gateway.query import Query
from core.local.gateway.schema import RESULT, Argument, Function, Schema, quote
from core.local.gateway.sql import Parameters, array_literal, order_sql, select_sql, where_sql, window_sql
from core.local.gateway.statement import Statement, first_json, rows_json


def choose_function(schema: Schema, name: str, query: Query, payload: Payload | None) -> Function:
    """The function that takes the arguments given. Errors: Failure PGRST202, PGRST203, PGRST102."""
    if payload is None:
        return schema.function(name, {key for key, _ in query.arguments}, may_take_body=False)
    names = payload.arguments()
    function = schema.function(name, names or [], may_take_body=True)
    if names is None and not function.takes_whole_body:
        raise invalid()
    return function


def call_statement(
    function: Function,
    query: Query,
    payload: Payload | None,
    schema: Schema,
    accepted: Accepted,
    *,
    max_rows: int,
    count: bool,
    body: bool,
) -> Statement:
    """Filters, order and limit apply to the result. `max_rows` caps sets of rows, not one value."""
    parameters = Parameters()
    call = _call_sql(function, query, payload, parameters)
    settings = function.settings
    read_only = payload is None or not function.volatile
    if function.void:
        return Statement(
            f"SELECT null::bigint, count(*), null, null, null FROM {call}", parameters, read_only, settings
        )
    source = result_of(function)
    scalar = function.columns is None
    selected = f"pgrst_source.{quote(RESULT)}" if scalar else select_sql(query.select, source, schema, parameters)
    where = where_sql(query.conditions, source, parameters)
    window = query.window.capped(max_rows) if function.many else query.window
    shown = (
        f"SELECT {selected} FROM pgrst_source{where}"
        f"{order_sql(query.order, source, parameters)}{window_sql(window, parameters)}"
    )
    total = f"(SELECT count(*) FROM pgrst_source{where})" if count else "null::bigint"
    json = _result_json(function, accepted) if body else "null"
    result = f"{RESULT} AS {quote(RESULT)}" if scalar else f"{RESULT}.*"
    return Statement(
        f"WITH pgrst_source AS (SELECT {result} FROM {call}) SELECT {total}, count(*), {json}, null, null"
        f" FROM ({shown}) _postgrest_t",
        parameters,
        read_only,
        settings,
    )


def _result_json(function: Function, accepted: Accepted) -> str:
    one = accepted.single or not function.many
    if function.columns is None:
        values = f"json_agg(_postgrest_t.{quote(RESULT)})"
        return f"coalesce(({values}->0)::text, 'null')" if one else f"coalesce({values}, '[]')::text"
    return first_json(accepted.strip) if one else rows_json(accepted.strip)


def _call_sql(function: Function, query: Query, payload: Payload | None, parameters: Parameters) -> str:
    if payload is None:
        return f"{function.sql}({_direct_arguments(function, query, parameters)}) {RESULT}"
    if function.takes_whole_body:
        kind = function.arguments[0].type
        return f"{function.sql}({parameters.add(payload.text)}::{kind}) {RESULT}"
    names = set(payload.arguments() or [])
    given = [argument for argument in function.arguments if argument.name in names]
    if not given:
        return f"{function.sql}() {RESULT}"
    types = ", ".join(f"{quote(a.name)} {a.type}" for a in given)
    passed = ", ".join(_passed(a, f"pgrst_body.{quote(a.name)}") for a in given)
    body = f"(SELECT * FROM json_to_record({parameters.add(payload.text)}::json) AS _({types}) LIMIT 1) pgrst_body"
    return f"{body}, LATERAL {function.sql}({passed}) {RESULT}"


def _direct_arguments(function: Function, query: Query, parameters: Parameters) -> str:
    """Arguments of the query string; one that is given twice counts once, a variadic one takes all."""
    passed = []
    for argument in function.arguments:
        values = [value for key, value in query.arguments if key == argument.name]
        if values:
            value = array_literal(values) if argument.variadic else values[-1]
            passed.append(_passed(argument, f"{parameters.add(value)}::{argument.type}"))
    return ", ".join(passed)


def _passed(argument: Argument, value: str) -> str:
    return f"{'VARIADIC ' if argument.variadic else ''}{quote(argument.name)} := {value}"


def refuse_max_affected(function: Function, wants: Preferences) -> None:
    """Errors: Failure 400 PGRST128; max-affected makes sense for a set of rows alone."""
    if wants.max_affected is None or function.many:
        return
    raise Failure(
        400, "PGRST128", "Function must return SETOF or TABLE when max-affected preference is used with handling=strict"
    )
