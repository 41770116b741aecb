"""What comes back of each row: columns, new names, casts, JSON paths; and in which order and how many."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

ADA = {"id": 1, "name": "Ada"}
SHAPES: list[tuple[str, str, Any]] = [
    ("two columns, in the order asked for", "select=name,id", {"name": "Ada", "id": 1}),
    ("white space between them", "select=id, name", ADA),
    ("an alias", "select=who:name", {"who": "Ada"}),
    ("a quoted alias", 'select="who is it":name', {"who is it": "Ada"}),
    ("a cast", "select=id::text", {"id": "1"}),
    ("a cast to a type of two words", "select=score::double precision", {"score": 9.5}),
    ("an alias and a cast", "select=n:score::int", {"n": 10}),
    ("a JSON path names itself by its last key", "select=data->deep->>x", {"x": "1"}),
    ("an arrow keeps JSON", "select=data->langs", {"langs": ["en", "fr"]}),
    ("an index names itself by the key before it", "select=data->langs->>0", {"langs": "en"}),
    ("an alias for a path", "select=first:data->langs->>0", {"first": "en"}),
    ("a cast of a path", "select=n:data->>n::int", {"n": 5}),
    ("the same column twice", "select=id,again:id", {"id": 1, "again": 1}),
    ("a star beside an alias", "select=*,x:id&id=eq.1", None),
    (
        "an array and a time as JSON",
        "select=tags,seen",
        {"tags": ["math", "poetry"], "seen": "2026-01-01T10:00:00+00:00"},
    ),
    ("a numeric keeps its scale", "select=score", {"score": 9.50}),
    ("a quoted column", 'select="name"', {"name": "Ada"}),
]


@pytest.mark.parametrize(("why", "query", "expected"), SHAPES, ids=[case[0] for case in SHAPES])
def test_shape(http: httpx.Client, why: str, query: str, expected: Any) -> None:
    """The first person has exactly these keys and values."""
    reply = http.get(f"/people?{query}&id=eq.1" if "id=eq" not in query else f"/people?{query}")
    assert reply.status_code == 200, reply.text
    row = reply.json()[0]
    if expected is None:
        assert row["x"] == 1 and len(row) == 13
    else:
        assert row == expected and list(row) == list(expected)


def test_no_select_is_everything(http: httpx.Client) -> None:
    """Without select each column comes, in the table's order; an empty one is the same."""
    rows = http.get("/pairs?order=b").json()
    assert rows == [{"a": 1, "b": 1, "value": "one"}, {"a": 1, "b": 2, "value": "two"}]
    assert http.get("/pairs?order=b&select=").json() == rows


def test_odd_names(http: httpx.Client) -> None:
    """Names with spaces, dashes, dots, quotes and Cyrillic letters can be read, filtered and ordered by."""
    path = "/Odd Name"
    assert http.get(f'{path}?select=a b,c-d,"e.f",ключ').json() == [{"a b": 1, "c-d": 2, "e.f": 3, "ключ": "так"}]
    assert len(http.get(f'{path}?"e.f"=eq.3&ключ=eq.так&order=c-d').json()) == 1
    assert http.get(f'{path}?select="quo\\"te"').json() == [{'quo"te': "q"}]


def test_view(http: httpx.Client) -> None:
    """A view reads like a table."""
    assert [row["id"] for row in http.get("/adults?order=id").json()] == [1, 4, 5]


def test_vector_is_text(http: httpx.Client) -> None:
    """A vector column comes as pgvector writes it."""
    assert http.get("/vectors?id=eq.3").json() == [{"id": 3, "embedding": "[0.9,0.1,0]"}]


ORDERS = [
    ("ascending by default, nulls last", "age", [2, 1, 4, 5, 3]),
    ("descending, nulls first as in SQL", "age.desc", [3, 5, 4, 1, 2]),
    ("nulls last on demand", "age.desc.nullslast", [5, 4, 1, 2, 3]),
    ("nulls first on demand", "age.asc.nullsfirst", [3, 2, 1, 4, 5]),
    ("nulls without a direction", "age.nullsfirst", [3, 2, 1, 4, 5]),
    ("two keys", "active.desc.nullslast,id.desc", [4, 1, 5, 2, 3]),
    ("a JSON path", "data->>city.asc.nullslast,id", [2, 1, 4, 3, 5]),
]


@pytest.mark.parametrize(("why", "order", "expected"), ORDERS, ids=[case[0] for case in ORDERS])
def test_order(http: httpx.Client, why: str, order: str, expected: list[int]) -> None:
    """The rows come in this order."""
    assert [row["id"] for row in http.get(f"/people?select=id&order={order}").json()] == expected


WINDOWS: list[tuple[str, str, dict[str, str], int, list[int], str]] = [
    ("limit", "limit=2", {}, 200, [1, 2], "0-1/*"),
    ("limit and offset", "limit=2&offset=3", {}, 200, [4, 5], "3-4/*"),
    ("offset alone", "offset=4", {}, 200, [5], "4-4/*"),
    ("limit 0 is nothing", "limit=0", {}, 200, [], "*/*"),
    ("the Range header", "", {"Range": "1-2"}, 200, [2, 3], "1-2/*"),
    ("an open Range", "", {"Range": "3-"}, 200, [4, 5], "3-4/*"),
    ("limit within Range: both hold", "limit=1", {"Range": "0-9"}, 200, [1], "0-0/*"),
    ("a part of a counted result is 206", "limit=2", {"Prefer": "count=exact"}, 206, [1, 2], "0-1/5"),
    ("all of a counted result is 200", "", {"Prefer": "count=exact"}, 200, [1, 2, 3, 4, 5], "0-4/5"),
    ("planned is answered exactly", "limit=1", {"Prefer": "count=planned"}, 206, [1], "0-0/5"),
    ("estimated is answered exactly", "limit=1", {"Prefer": "count=estimated"}, 206, [1], "0-0/5"),
    ("past the end without a count is empty", "offset=99", {}, 200, [], "*/*"),
    ("at the end with a count", "offset=5", {"Prefer": "count=exact"}, 206, [], "*/5"),
    ("a count respects the filter", "id=gt.3&limit=1", {"Prefer": "count=exact"}, 206, [4], "0-0/2"),
    ("a count of nothing", "id=gt.9", {"Prefer": "count=exact"}, 200, [], "*/0"),
]


@pytest.mark.parametrize(
    ("why", "query", "headers", "status", "ids", "shown"), WINDOWS, ids=[case[0] for case in WINDOWS]
)
def test_window(
    http: httpx.Client, why: str, query: str, headers: dict[str, str], status: int, ids: list[int], shown: str
) -> None:
    """Rows, status and Content-Range of a part of the table."""
    reply = http.get(f"/people?select=id&order=id&{query}", headers=headers)
    assert (reply.status_code, [row["id"] for row in reply.json()]) == (status, ids)
    assert reply.headers["content-range"] == shown


def test_count_is_said_to_be_honoured(http: httpx.Client) -> None:
    """Preference-Applied repeats what was done, and nothing that was not."""
    assert http.get("/people", headers={"Prefer": "count=exact"}).headers["preference-applied"] == "count=exact"
    assert "preference-applied" not in http.get("/people").headers


def test_head(http: httpx.Client) -> None:
    """HEAD has the headers of GET and no body."""
    reply = http.head("/people?select=id&limit=2", headers={"Prefer": "count=exact"})
    assert (reply.status_code, reply.content, reply.headers["content-range"]) == (206, b"", "0-1/5")


SINGLE = {"Accept": "application/vnd.pgrst.object+json"}


def test_single(http: httpx.Client) -> None:
    """One row asked for as an object comes as one."""
    reply = http.get("/people?select=id&id=eq.1", headers=SINGLE)
    assert reply.json() == {"id": 1}
    assert reply.headers["content-type"] == "application/vnd.pgrst.object+json; charset=utf-8"


@pytest.mark.parametrize(("query", "rows"), [("id=eq.99", 0), ("id=lt.3", 2)])
def test_not_single(http: httpx.Client, query: str, rows: int) -> None:
    """No row or two is 406 PGRST116, which clients know."""
    reply = http.get(f"/people?{query}", headers=SINGLE)
    assert (reply.status_code, reply.json()["code"]) == (406, "PGRST116")
    assert reply.json()["details"] == f"The result contains {rows} rows"


def test_nulls_stripped(http: httpx.Client) -> None:
    """`nulls=stripped` leaves null fields out, in arrays and in single objects."""
    array = http.get(
        "/people?select=id,age&id=eq.3", headers={"Accept": "application/vnd.pgrst.array+json;nulls=stripped"}
    )
    single = http.get("/people?select=id,age&id=eq.3", headers={"Accept": f"{SINGLE['Accept']};nulls=stripped"})
    assert (array.json(), single.json()) == ([{"id": 3}], {"id": 3})
