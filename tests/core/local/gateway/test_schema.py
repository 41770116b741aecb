"""Looking up tables, columns and functions."""

from __future__ import annotations

import pytest

from core.local.gateway.errors import Failure
from core.local.gateway.schema import Argument, Column, Function, Relation, Schema, quote

TABLE = Relation("people", '"public"."people"', {"name": Column("name", "text")})
ADD = Function("add_up", (Argument("a", "integer"), Argument("b", "integer", required=False)))
BODY = Function("takes", (Argument("", "json"),))
SCHEMA = Schema({"people": TABLE}, {"add_up": (ADD,), "takes": (BODY,)}, {"int4": "integer"})


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_function_found(names: list[str]) -> None:
    """All required arguments and no unknown ones."""
    assert SCHEMA.function("add_up", names, may_take_body=True) is ADD


@pytest.mark.parametrize("names", [[], ["b"], ["a", "c"]])
def test_function_missed(names: list[str]) -> None:
    """404 PGRST202 that names what was sought."""
    with pytest.raises(Failure) as caught:
        SCHEMA.function("add_up", names, may_take_body=True)
    assert (caught.value.status, caught.value.code) == (404, "PGRST202")


def test_whole_body() -> None:
    """A function of one unnamed json takes the body, but not a query string."""
    assert SCHEMA.function("takes", ["any"], may_take_body=True) is BODY
    with pytest.raises(Failure):
        SCHEMA.function("takes", ["any"], may_take_body=False)


def test_ambiguous() -> None:
    """Two that fit are 300 PGRST203."""
    twin = Function("add_up", (Argument("a", "text"),))
    with pytest.raises(Failure) as caught:
        Schema(functions={"add_up": (ADD, twin)}).function("add_up", ["a"], may_take_body=True)
    assert (caught.value.status, caught.value.code) == (300, "PGRST203")


def test_hints() -> None:
    """The nearest name is offered; where nothing is near, nothing is."""
    with pytest.raises(Failure) as table:
        SCHEMA.table("poeple")
    with pytest.raises(Failure) as column:
        TABLE.column("nme")
    with pytest.raises(Failure) as nothing:
        SCHEMA.table("xyz")
    assert table.value.hint == "Perhaps you meant the table 'public.people'"
    assert column.value.hint == 'Perhaps you meant to reference the column "people.name".'
    assert nothing.value.hint is None


def test_types() -> None:
    """Casts know the catalogue's types and arrays of them, and no other text."""
    assert (SCHEMA.type_sql("int4"), SCHEMA.type_sql("INT4[]")) == ("integer", "integer[]")
    with pytest.raises(Failure):
        SCHEMA.type_sql("int4); drop table people; --")


def test_quote() -> None:
    """A quote in a name is doubled."""
    assert quote('a"b') == '"a""b"'
