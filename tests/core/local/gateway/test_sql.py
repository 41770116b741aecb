"""SQL text: names are quoted and qualified, values are parameters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.local.gateway.columns import parse_order, parse_select
from core.local.gateway.filters import parse_filter, parse_tree
from core.local.gateway.grammar import Field
from core.local.gateway.ranges import Window
from core.local.gateway.schema import Column, Relation, Schema
from core.local.gateway.sql import Parameters, array_literal, order_sql, select_sql, where_sql, window_sql

COLUMNS = {
    name: Column(name, kind) for name, kind in (("a", "integer"), ('q"x', "text"), ("j", "jsonb"), ("v", "tsvector"))
}
TABLE = Relation("t", '"public"."t"', COLUMNS)
SCHEMA = Schema(types={"int": "integer"})


def where(field: str, text: str) -> tuple[str, list[str]]:
    parameters = Parameters()
    return where_sql([parse_filter(Field(field), text)], TABLE, parameters), parameters.values


def test_conditions() -> None:
    """Each value is a parameter, each name has its table."""
    assert where("a", "eq.1") == (' WHERE "public"."t"."a" = $1', ["1"])
    assert where("a", "not.in.(1,2)") == (' WHERE NOT ("public"."t"."a" = ANY($1))', ['{"1","2"}'])
    assert where('q"x', "like.a*") == (' WHERE "public"."t"."q""x" LIKE $1', ["a%"])
    assert where("a", "is.not_null") == (' WHERE "public"."t"."a" IS NOT NULL', [])
    assert where("a", "eq(any).{1}") == (' WHERE "public"."t"."a" = ANY($1)', ["{1}"])


def test_text_search() -> None:
    """The language goes to both sides; a tsvector column is taken as it is."""
    assert where("v", "wfts(simple).x") == (
        ' WHERE "public"."t"."v" @@ websearch_to_tsquery($1::regconfig, $2)',
        ["simple", "x"],
    )
    assert where('q"x', "fts.x")[0] == ' WHERE to_tsvector("public"."t"."q""x") @@ to_tsquery($1)'


def test_tree() -> None:
    """Brackets round every group."""
    parameters = Parameters()
    text = where_sql([parse_tree("or", "(a.eq.1,and(a.gt.2,a.lt.3))")], TABLE, parameters)
    t = '"public"."t"."a"'
    assert text == f" WHERE ({t} = $1 OR ({t} > $2 AND {t} < $3))"


def test_select_order_window() -> None:
    """Paths have parameters too; aliases are quoted."""
    parameters = Parameters()
    assert select_sql(parse_select("x:a", "t"), TABLE, SCHEMA, parameters) == '"public"."t"."a" AS "x"'
    path = select_sql(parse_select("j->k->>0::int", "t"), TABLE, SCHEMA, parameters)
    assert path == 'CAST(("public"."t"."j"->$1::text->>$2::int) AS integer) AS "k"'
    assert order_sql(parse_order("a.desc.nullslast"), TABLE, parameters) == ' ORDER BY "public"."t"."a" DESC NULLS LAST'
    assert window_sql(Window(2, 5), parameters) == " LIMIT $3 OFFSET $4"
    assert parameters.values == ["k", "0", "5", "2"]


@given(st.text())
def test_no_value_reaches_the_text(value: str) -> None:
    """The SQL is the same whatever the value."""
    assert where("a", f"eq.{value}")[0] == ' WHERE "public"."t"."a" = $1'
    assert where("a", "in.(" + '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' + ")")[0].endswith(
        " = ANY($1)"
    )


def test_array_literal() -> None:
    """Quotes and backslashes are escaped, NULL and empty texts are texts."""
    assert array_literal(['a"b', "c\\d", "NULL", ""]) == '{"a\\"b","c\\\\d","NULL",""}'
