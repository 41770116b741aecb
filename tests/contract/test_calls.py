"""Functions over /rpc: arguments by name, each kind of result, filters on it, and what a call may do."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

RESULTS: list[tuple[str, str, Any, Any]] = [
    ("a scalar", "add_up", {"a": 1, "b": 4}, 5),
    ("a default for what is missing", "add_up", {"a": 1}, 3),
    ("a number as text", "add_up", {"a": "1"}, 3),
    ("null is a value", "echo", {"value": None}, None),
    ("text with quotes and a dollar", "echo", {"value": "a'b\"$1\\ ✓"}, "a'b\"$1\\ ✓"),
    ("a JSON object for jsonb", "echo_json", {"value": {"a": [1, {"b": None}]}}, {"a": [1, {"b": None}]}),
    ("a JSON list for jsonb", "echo_json", {"value": [1, 2]}, [1, 2]),
    ("an array", "echo_array", {"value": [3, 4]}, [3, 4]),
    ("no value", "no_value", {}, None),
    ("a set of scalars", "numbers", {"n": 3}, [1, 2, 3]),
    ("an empty set", "numbers", {"n": 0}, []),
    ("rows of a table", "older_than?select=id", {"years": 40}, [{"id": 4}, {"id": 5}]),
    ("one row", "one_person?select=id,name", {"wanted": 2}, {"id": 2, "name": "Bob"}),
    ("a table of its own", "ages?person=eq.Bob", {}, [{"person": "Bob", "years": 17}]),
    ("output arguments", "out_values", {"a": 3}, {"doubled": 6, "halved": 1.5}),
    ("a vector as text", "nearest", {"p_query": "[1,0,0]", "p_limit": 1}, [{"id": 1, "distance": 0}]),
    ("a vector as numbers", "nearest?select=id", {"p_query": [0, 1, 0], "p_limit": 1}, [{"id": 2}]),
    ("the whole body for one unnamed json", "takes_body", {"any": ["thing"]}, {"any": ["thing"]}),
    ("a list as the whole body", "takes_body", [1, 2], [1, 2]),
    ("variadic", "total", {"terms": [1, 2, 3]}, 6),
    ("an overload by its argument's name", "twice", {"a": 4}, 8),
    ("the other overload", "twice", {"b": "ab"}, "abab"),
]


@pytest.mark.parametrize(("why", "path", "body", "expected"), RESULTS, ids=[case[0] for case in RESULTS])
def test_result(http: httpx.Client, why: str, path: str, body: Any, expected: Any) -> None:
    """POST with these arguments gives this JSON, with status 200."""
    reply = http.post(f"/rpc/{path}", json=body)
    assert (reply.status_code, reply.json()) == (200, expected)


BY_GET: list[tuple[str, str, Any]] = [
    ("arguments in the query string", "add_up?a=1&b=5", 6),
    ("a default", "add_up?a=1", 3),
    ("spaces and plus signs", "echo?value=a+b%2Bc", "a b+c"),
    ("an array as Postgres writes it", "echo_array?value={3,4}", [3, 4]),
    ("jsonb", 'echo_json?value={"a":1}', {"a": 1}),
    ("a vector", "nearest?p_query=[1,0,0]&p_limit=1&select=id", [{"id": 1}]),
    ("a filter on the result beside an argument", "older_than?years=30&select=id&id=gt.1", [{"id": 4}, {"id": 5}]),
    ("no arguments", "no_value", None),
    ("variadic, repeated", "total?terms=1&terms=2", 3),
]


@pytest.mark.parametrize(("why", "path", "expected"), BY_GET, ids=[case[0] for case in BY_GET])
def test_get(http: httpx.Client, why: str, path: str, expected: Any) -> None:
    """GET with these parameters gives this JSON."""
    reply = http.get(f"/rpc/{path}")
    assert (reply.status_code, reply.json()) == (200, expected)


def test_filters_order_and_limit(http: httpx.Client) -> None:
    """The result of a call is filtered, ordered and cut like a table."""
    path = "/rpc/older_than?select=id,n:name&or=(id.eq.1,id.eq.5)&order=id.desc&limit=1"
    assert http.post(path, json={"years": 1}).json() == [{"id": 5, "n": "back\\slash"}]


def test_count(http: httpx.Client) -> None:
    """count=exact counts the filtered result, whatever the limit."""
    reply = http.post("/rpc/older_than?id=gt.1&limit=1", json={"years": 1}, headers={"Prefer": "count=exact"})
    assert (reply.status_code, reply.headers["content-range"]) == (206, "0-0/3")


def test_head(http: httpx.Client) -> None:
    """HEAD counts without sending rows."""
    reply = http.head("/rpc/older_than?years=1", headers={"Prefer": "count=exact"})
    assert (reply.status_code, reply.content, reply.headers["content-range"]) == (200, b"", "0-3/4")


def test_void(http: httpx.Client) -> None:
    """A function without a result is run, and answered with 204."""
    reply = http.post("/rpc/no_result", json={"p_name": "Ivy"})
    assert (reply.status_code, reply.content) == (204, b"")
    assert len(http.get("/pets?name=eq.Ivy").json()) == 1


def test_writing_function(http: httpx.Client) -> None:
    """POST may write, once, and also where its result is counted and read twice."""
    assert http.post("/rpc/new_pet", json={"p_name": "Ivy"}, headers={"Prefer": "count=exact"}).json() == 4
    assert len(http.get("/pets").json()) == 4


def test_get_may_not_write(http: httpx.Client) -> None:
    """GET runs read-only: a writing function is 405, and nothing is written."""
    reply = http.get("/rpc/new_pet?p_name=Ivy")
    assert (reply.status_code, reply.json()["code"]) == (405, "25006")
    assert len(http.get("/pets").json()) == 3


def test_single(http: httpx.Client) -> None:
    """A set of one row may come as an object; more are 406."""
    headers = {"Accept": "application/vnd.pgrst.object+json"}
    assert http.post("/rpc/older_than?select=id", json={"years": 60}, headers=headers).json() == {"id": 5}
    assert http.post("/rpc/older_than", json={"years": 1}, headers=headers).json()["code"] == "PGRST116"


def test_single_undoes_the_call(http: httpx.Client) -> None:
    """Where one object was asked for and more came, what the function did is undone."""
    reply = http.post(
        "/rpc/retire_pets", json={"p_kind": "dog"}, headers={"Accept": "application/vnd.pgrst.object+json"}
    )
    assert (reply.status_code, http.get("/pets?status=eq.gone").json()) == (406, [])


def test_max_affected(http: httpx.Client) -> None:
    """max-affected holds for a set of rows (PGRST124) and is refused for one value (PGRST128)."""
    strict = {"Prefer": "handling=strict,max-affected=1"}
    reply = http.post("/rpc/retire_pets", json={"p_kind": "dog"}, headers=strict)
    assert (reply.status_code, reply.json()["code"]) == (400, "PGRST124")
    assert http.get("/pets?status=eq.gone").json() == []
    assert http.post("/rpc/add_up", json={"a": 1}, headers=strict).json()["code"] == "PGRST128"


MISSES: list[tuple[str, str, Any]] = [
    ("no such function", "nope", {}),
    ("an argument it does not have", "add_up", {"a": 1, "z": 2}),
    ("a required argument is missing", "add_up", {"b": 2}),
]


@pytest.mark.parametrize(("why", "name", "body"), MISSES, ids=[case[0] for case in MISSES])
def test_miss(http: httpx.Client, why: str, name: str, body: Any) -> None:
    """404 PGRST202 with the name and the arguments that were sought, and never their values."""
    reply = http.post(f"/rpc/{name}", json=body)
    assert (reply.status_code, reply.json()["code"]) == (404, "PGRST202")
    assert f"public.{name}" in reply.json()["message"]


def test_near_miss_is_named(http: httpx.Client) -> None:
    """The hint names a function of nearly that name, or the arguments of the one that exists."""
    assert "public.add_up" in http.post("/rpc/ad_up", json={}).json()["hint"]
    assert "add_up(a, b)" in http.post("/rpc/add_up", json={"z": 1}).json()["hint"]


def test_ambiguous(http: httpx.Client) -> None:
    """Two functions that differ only in a type: 300 PGRST203, as nothing says which is meant."""
    reply = http.post("/rpc/same", json={"a": "1"})
    assert (reply.status_code, reply.json()["code"]) == (300, "PGRST203")


def test_body_must_be_an_object(http: httpx.Client) -> None:
    """A list as the body of a function with named arguments is 400."""
    assert http.post("/rpc/no_value", json=[1]).json()["code"] == "PGRST102"


def test_empty_body_is_no_arguments(http: httpx.Client) -> None:
    """POST without a body calls a function without arguments."""
    assert http.post("/rpc/no_value").json() is None


def test_other_methods(http: httpx.Client) -> None:
    """PATCH and DELETE on a function are 405 PGRST101."""
    assert http.delete("/rpc/add_up").json()["code"] == "PGRST101"
    assert http.patch("/rpc/add_up", json={}).status_code == 405


def test_bad_argument_value(http: httpx.Client) -> None:
    """A value that does not fit the type is 400 with Postgres' own code."""
    reply = http.post("/rpc/add_up", json={"a": "one"})
    assert (reply.status_code, reply.json()["code"]) == (400, "22P02")


@pytest.mark.parametrize("query", ["[1,2]", "[1,2,three]", "nonsense"])
def test_bad_vector(http: httpx.Client, query: str) -> None:
    """A vector of another length or no vector at all is 400 with Postgres' own code (class 22)."""
    reply = http.post("/rpc/nearest", json={"p_query": query})
    assert reply.status_code == 400 and reply.json()["code"].startswith("22")


def test_utc(http: httpx.Client) -> None:
    """The session runs in UTC, as on the hosted database, whatever the machine's zone."""
    assert http.post("/rpc/zone").json() == "UTC"
