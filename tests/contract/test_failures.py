"""Errors in PostgREST's form: status, code and the other three fields."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

# (why, method, path, body, status, code)
CASES: list[tuple[str, str, str, Any, int, str]] = [
    ("unique violation", "POST", "/pets", {"name": "Tom"}, 409, "23505"),
    ("foreign key violation", "POST", "/pets", {"name": "x", "owner_id": 99}, 409, "23503"),
    ("referenced row deleted", "DELETE", "/people?id=eq.1", None, 409, "23503"),
    ("not null violation", "POST", "/people", {"id": 9}, 400, "23502"),
    ("check violation", "POST", "/pets", {"name": "x", "weight": -1}, 400, "23514"),
    ("bad number in a body", "POST", "/people", {"id": "x", "name": "x"}, 400, "22P02"),
    ("bad number in a filter", "GET", "/people?id=eq.x", None, 400, "22P02"),
    ("number out of range", "GET", "/people?id=eq.99999999999", None, 400, "22003"),
    ("bad time", "GET", "/people?seen=gt.yesterdayish", None, 400, "22007"),
    ("vector of another length", "POST", "/vectors", {"id": 9, "embedding": "[1,2]"}, 400, "22000"),
    ("unknown table", "GET", "/nope", None, 404, "PGRST205"),
    ("unknown column in select", "GET", "/people?select=nope", None, 400, "42703"),
    ("unknown column in a filter", "GET", "/people?nope=eq.1", None, 400, "42703"),
    ("unknown column in a tree", "GET", "/people?or=(nope.eq.1,id.eq.1)", None, 400, "42703"),
    ("unknown column in order", "GET", "/people?order=nope", None, 400, "42703"),
    ("unknown operator", "GET", "/people?id=foo.1", None, 400, "PGRST100"),
    ("no operator", "GET", "/people?id=1", None, 400, "PGRST100"),
    ("an empty filter", "GET", "/people?id=", None, 400, "PGRST100"),
    ("bad word after is", "GET", "/people?age=is.nothing", None, 400, "PGRST100"),
    ("in without brackets", "GET", "/people?id=in.1,2", None, 400, "PGRST100"),
    ("in without an end", "GET", "/people?id=in.(1,2", None, 400, "PGRST100"),
    ("a tree without an end", "GET", "/people?or=(id.eq.1", None, 400, "PGRST100"),
    ("an empty tree", "GET", "/people?or=()", None, 400, "PGRST100"),
    ("a tree too deep", "GET", "/people?or=" + "(or" * 60 + "(id.eq.1)" + ")" * 60, None, 400, "PGRST100"),
    ("bad direction", "GET", "/people?order=id.down", None, 400, "PGRST100"),
    ("bad select", "GET", "/people?select=id,,name", None, 400, "PGRST100"),
    ("any on an operator without it", "GET", "/people?id=neq(any).{1}", None, 400, "PGRST100"),
    ("an operator the type lacks", "GET", "/people?id=like.1", None, 404, "42883"),
    ("an embedded table", "GET", "/people?select=id,pets(name)", None, 400, "PGRST200"),
    ("an embedded table with an alias", "GET", "/people?select=id,mine:pets(name)", None, 400, "PGRST200"),
    ("a hint for an embedded table", "GET", "/people?select=pets!fk(name)", None, 400, "PGRST200"),
    ("a spread table", "GET", "/people?select=...pets(name)", None, 400, "PGRST200"),
    ("a filter on an embedded table", "GET", "/people?pets.name=eq.Tom", None, 400, "PGRST108"),
    ("an order by an embedded table", "GET", "/people?order=pets(name)", None, 400, "PGRST108"),
    ("an aggregate", "GET", "/people?select=age.sum()", None, 400, "PGRST123"),
    ("count()", "GET", "/people?select=count()", None, 400, "PGRST123"),
    ("an unknown type in a cast", "GET", "/people?select=id::nope", None, 400, "42704"),
    ("a negative limit", "GET", "/people?limit=-1", None, 416, "PGRST103"),
    ("a negative offset", "GET", "/people?offset=-1", None, 416, "PGRST103"),
    ("a method outside the slice", "PUT", "/people?id=eq.1", {"id": 1}, 405, "PGRST117"),
    ("the root", "GET", "/", None, 404, "PGRST126"),
    ("a deeper path", "GET", "/people/1", None, 404, "PGRST125"),
    ("a NUL in a filter", "GET", "/people?name=eq.a%00b", None, 400, "22021"),
    ("a NUL in a body", "POST", "/people", {"id": 9, "name": "a\0b"}, 400, "22P05"),
    ("bytes that are no UTF-8", "GET", "/people?name=eq.%ff", None, 400, "PGRST100"),
]


@pytest.mark.parametrize(("why", "method", "path", "body", "status", "code"), CASES, ids=[case[0] for case in CASES])
def test_code(http: httpx.Client, why: str, method: str, path: str, body: Any, status: int, code: str) -> None:
    """The four fields, this status and this code, and the code once more in Proxy-Status."""
    reply = http.request(method, path, json=body)
    assert (reply.status_code, reply.json()["code"]) == (status, code), reply.text
    assert set(reply.json()) == {"code", "message", "details", "hint"}
    assert reply.headers["proxy-status"] == f"PostgREST; error={code}"


RAISED: list[tuple[str, int]] = [
    ("P0001", 400),
    ("PT402", 402),
    ("PT418", 418),
    ("42501", 403),
    ("22000", 400),
    ("57014", 500),
    ("53300", 503),
    ("08006", 503),
    ("57P01", 503),
    ("57P03", 503),
    ("40001", 500),
    ("42P01", 404),
    ("42883", 404),
    ("XX000", 500),
    ("0L000", 403),
    ("28000", 403),
    ("54000", 500),
    ("55P03", 500),
    ("MD001", 400),
]


@pytest.mark.parametrize(("state", "status"), RAISED)
def test_raised(http: httpx.Client, state: str, status: int) -> None:
    """A function's own `raise` reaches the client whole, with the status of its SQLSTATE."""
    body = {"p_state": state, "p_message": "what", "p_detail": "why", "p_hint": "how"}
    reply = http.post("/rpc/complain", json=body)
    assert (reply.status_code, reply.json()) == (
        status,
        {"code": state, "message": "what", "details": "why", "hint": "how"},
    )


def test_raised_as_json(http: httpx.Client) -> None:
    """SQLSTATE PGRST carries body, status and headers of its own; nonsense in it is 500 PGRST121."""
    message = '{"code": "mine", "message": "what", "details": null, "hint": "how"}'
    body = {"p_state": "PGRST", "p_message": message, "p_detail": '{"status": 429, "headers": {"Retry-After": "7"}}'}
    reply = http.post("/rpc/complain", json=body)
    assert (reply.status_code, reply.json()["code"], reply.headers["retry-after"]) == (429, "mine", "7")
    assert http.post("/rpc/complain", json={"p_state": "PGRST"}).json()["code"] == "PGRST121"


def test_postgres_details_and_hint_are_kept(http: httpx.Client) -> None:
    """details says which key, as Postgres does."""
    reply = http.post("/pets", json={"name": "Tom"})
    assert reply.json()["details"] == "Key (name)=(Tom) already exists."


def test_nearest_name_is_hinted(http: httpx.Client) -> None:
    """A misspelt table or column gets a hint."""
    assert http.get("/peple").json()["hint"] == "Perhaps you meant the table 'public.people'"
    assert "people.name" in http.get("/people?select=nam").json()["hint"]


@pytest.mark.parametrize("accept", ["text/csv", "application/vnd.pgrst.plan+json", "application/geo+json", "text/html"])
def test_media_type_outside_the_slice(http: httpx.Client, accept: str) -> None:
    """Only JSON is made: 406 PGRST107 that repeats what was asked for."""
    reply = http.get("/people", headers={"Accept": accept})
    assert (reply.status_code, reply.json()["code"]) == (406, "PGRST107")
    assert accept in reply.json()["message"]


def test_browser_accept(http: httpx.Client) -> None:
    """Of several media types the first that can be made is."""
    assert http.get("/people", headers={"Accept": "text/html, application/json;q=0.9, */*;q=0.8"}).status_code == 200


@pytest.mark.parametrize(("method", "header"), [("GET", "Accept-Profile"), ("POST", "Content-Profile")])
def test_other_schema(http: httpx.Client, method: str, header: str) -> None:
    """Only schema public is exposed: 406 PGRST106."""
    reply = http.request(method, "/people", headers={header: "auth"}, json={} if method == "POST" else None)
    assert (reply.status_code, reply.json()["code"]) == (406, "PGRST106")
    assert http.get("/people", headers={"Accept-Profile": "public"}).status_code == 200


def test_strict_handling_of_preferences(http: httpx.Client) -> None:
    """An unknown preference is ignored, unless handling=strict: 400 PGRST122."""
    assert http.get("/people", headers={"Prefer": "nonsense=1"}).status_code == 200
    reply = http.get("/people", headers={"Prefer": "handling=strict, nonsense=1"})
    assert (reply.status_code, reply.json()["details"]) == (400, "Invalid preferences: nonsense=1")


def test_other_paths(gateway: object, http: httpx.Client) -> None:
    """Storage, functions and the rest of Auth are not in the slice: 404."""
    base = str(http.base_url).removesuffix("/rest/v1/")
    for path in ("/storage/v1/bucket", "/auth/v1/token", "/functions/v1/x", "/"):
        assert http.get(base + path).status_code == 404
