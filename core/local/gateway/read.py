"""The statement of GET and HEAD on a table."""

from __future__ import annotations

from core.local.gateway.accept import Accepted
from core.local.gateway.query import Query
from core.local.gateway.schema import Relation, Schema
from core.local.gateway.sql import Parameters, order_sql, select_sql, where_sql, window_sql
from core.local.gateway.statement import Statement, first_json, rows_json


def read_statement(
    table: Relation, query: Query, schema: Schema, accepted: Accepted, *, max_rows: int, count: bool, body: bool
) -> Statement:
    """At most `max_rows` rows whatever was asked, as on the hosted database; the count is not capped."""
    parameters = Parameters()
    selected = select_sql(query.select, table, schema, parameters)
    where = where_sql(query.conditions, table, parameters)
    source = (
        f"SELECT {selected} FROM {table.sql}{where}"
        f"{order_sql(query.order, table, parameters)}{window_sql(query.window.capped(max_rows), parameters)}"
    )
    total = f"(SELECT count(*) FROM {table.sql}{where})" if count else "null::bigint"
    json = "null" if not body else first_json(accepted.strip) if accepted.single else rows_json(accepted.strip)
    return Statement(
        f"WITH pgrst_source AS ({source}) SELECT {total}, count(*), {json}, null, null"
        " FROM (SELECT * FROM pgrst_source) _postgrest_t",
        parameters,
        read_only=True,
    )
