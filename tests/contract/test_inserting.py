"""Insert: what is stored of a body, what comes back, and which bodies are refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

FULL = {"Prefer": "return=representation"}


def names(http: httpx.Client, query: str = "") -> list[str]:
    return [row["name"] for row in http.get(f"/pets?select=name&order=id&{query}").json()]


def test_insert_one(http: httpx.Client) -> None:
    """An object is one row; columns not given get their defaults."""
    reply = http.post("/pets?select=name,kind,status", json={"name": "Ivy"}, headers=FULL)
    assert (reply.status_code, reply.json()) == (201, [{"name": "Ivy", "kind": "cat", "status": "new"}])


def test_insert_many(http: httpx.Client) -> None:
    """An array of objects with the same keys is as many rows, in order."""
    reply = http.post("/pets?select=name", json=[{"name": "Ivy"}, {"name": "Moe"}], headers=FULL)
    assert (reply.status_code, [row["name"] for row in reply.json()]) == (201, ["Ivy", "Moe"])


def test_minimal_is_the_default(http: httpx.Client) -> None:
    """Without `return` nothing comes back, and with return=minimal neither."""
    for number, headers in enumerate([{}, {"Prefer": "return=minimal"}]):
        reply = http.post("/pets", json={"name": f"Ivy{number}"}, headers=headers)
        assert (reply.status_code, reply.content, reply.headers["content-range"]) == (201, b"", "*/*")


def test_headers_only_gives_the_place(http: httpx.Client) -> None:
    """return=headers-only answers with the Location of the new row, by its whole key."""
    reply = http.post("/pairs", json={"a": 5, "b": 6}, headers={"Prefer": "return=headers-only"})
    assert (reply.status_code, reply.headers["location"], reply.content) == (201, "/pairs?a=eq.5&b=eq.6", b"")


def test_count_of_inserted(http: httpx.Client) -> None:
    """count=exact on an insert is the number of rows written."""
    reply = http.post("/pets", json=[{"name": "Ivy"}, {"name": "Moe"}], headers={"Prefer": "count=exact"})
    assert reply.headers["content-range"] == "*/2"


def test_columns_choose_the_keys(http: httpx.Client) -> None:
    """With ?columns only these keys are written, missing ones as null, and rows need not have the same keys."""
    rows = [{"name": "Ivy", "weight": 3, "ignored": 1}, {"name": "Moe"}]
    reply = http.post('/pets?columns="name","weight"&select=name,weight,kind', json=rows, headers=FULL)
    assert reply.json() == [{"name": "Ivy", "weight": 3, "kind": "cat"}, {"name": "Moe", "weight": None, "kind": "cat"}]


def test_missing_is_null_or_default(http: httpx.Client) -> None:
    """A key that ?columns names and a row lacks is null, unless missing=default."""
    rows = [{"name": "Ivy", "kind": "ant"}, {"name": "Moe"}]
    path = "/pets?columns=name,kind&select=kind"
    reply = http.post(path, json=rows, headers={"Prefer": "return=representation,missing=default"})
    assert [row["kind"] for row in reply.json()] == ["ant", "cat"]
    rows = [{"name": "Ivy2", "kind": "ant"}, {"name": "Moe2"}]
    assert [row["kind"] for row in http.post(path, json=rows, headers=FULL).json()] == ["ant", None]


def test_missing_default_of_identity_and_function(http: httpx.Client) -> None:
    """missing=default also draws from an identity column and calls a function, anew for each row."""
    wants = {"Prefer": "return=representation,missing=default"}
    pets = http.post("/pets?columns=id,name", json=[{"name": "Ivy"}, {"name": "Moe"}], headers=wants).json()
    assert len({row["id"] for row in pets} - {None}) == 2
    tickets = http.post("/tickets?columns=id,title", json=[{"title": "a"}, {"title": "b"}], headers=wants).json()
    assert len({row["id"] for row in tickets}) == 2


@pytest.mark.parametrize(("body", "rows"), [({}, 1), ([{}, {}], 2), ([], 0)])
def test_empty_rows(http: httpx.Client, body: Any, rows: int) -> None:
    """An empty object is a row of defaults; an empty array is no row."""
    reply = http.post("/tickets", json=body, headers=FULL)
    assert (reply.status_code, len(reply.json())) == (201, rows)
    assert all(row["title"] == "untitled" for row in reply.json())


def test_typed_values(http: httpx.Client) -> None:
    """Arrays, JSON, times, ranges and null arrive in columns of their types."""
    row = {"id": 9, "name": "x", "tags": ["a", "b,c", 'd"'], "data": {"k": [1, None]}, "seen": "2026-01-01T00:00:00Z"}
    row |= {"span": "[1,3)", "age": None, "score": "1.5"}
    stored = http.post("/people", json=row, headers=FULL).json()[0]
    assert stored["tags"] == row["tags"] and stored["data"] == row["data"]
    assert (stored["seen"], stored["span"], stored["age"], stored["score"]) == (
        "2026-01-01T00:00:00+00:00",
        "[1,3)",
        None,
        1.5,
    )


@pytest.mark.parametrize("value", ["[1,2,3]", [1, 2, 3]])
def test_vectors(http: httpx.Client, value: Any) -> None:
    """A vector may come as text, the short way, or as an array of numbers."""
    reply = http.post("/vectors", json={"id": 9, "embedding": value}, headers=FULL)
    assert reply.json() == [{"id": 9, "embedding": "[1,2,3]"}]


def test_text_is_stored_as_it_came(http: httpx.Client) -> None:
    """Emoji, Cyrillic, quotes, dollars and percent signs survive the way in and out."""
    text = "Привіт 👋 \"'\\ $1 %s {} \u2028 ʼ"
    assert http.post("/keyless", json={"value": text}, headers=FULL).json() == [{"value": text}]


def test_unknown_column_in_the_body(http: httpx.Client) -> None:
    """400 PGRST204 that names column and table, for insert, bulk insert and update."""
    for reply in (
        http.post("/pets", json={"nam": "x"}),
        http.post("/pets?columns=nam", json=[{"nam": "x"}]),
        http.patch("/pets?id=eq.1", json={"nam": "x"}),
    ):
        assert (reply.status_code, reply.json()["code"]) == (400, "PGRST204")
        assert reply.json()["message"] == "Could not find the 'nam' column of 'pets' in the schema cache"


@pytest.mark.parametrize(
    "body", ["{", "", "[1]", '"text"', '{"name": NaN}', '[{"name": "a"}, 2]', b'{"name": "\xff"}', "[" * 100_000]
)
def test_bad_json(http: httpx.Client, body: str | bytes) -> None:
    """A body that is no object, no list of objects or no JSON is 400 PGRST102, but for the empty one: no values."""
    reply = http.post("/pets", content=body, headers={"Content-Type": "application/json"})
    if body == "":
        assert (reply.status_code, reply.json()["code"]) == (400, "23502")
    else:
        assert (reply.status_code, reply.json()["code"]) == (400, "PGRST102")


def test_keys_must_match(http: httpx.Client) -> None:
    """Rows with different keys and no ?columns: 400 PGRST102."""
    reply = http.post("/pets", json=[{"name": "a"}, {"kind": "b"}])
    assert (reply.status_code, reply.json()["message"]) == (400, "All object keys must match")


def test_body_of_another_type(http: httpx.Client) -> None:
    """CSV and forms are not in the slice: 400 PGRST102 that says which type was sent."""
    reply = http.post("/pets", content="name\nx", headers={"Content-Type": "text/csv"})
    assert (reply.status_code, reply.json()["message"]) == (400, "Content-Type not acceptable: text/csv")


def test_a_failed_row_undoes_all(http: httpx.Client) -> None:
    """A bulk insert is one statement: the good row before the bad one is not kept."""
    reply = http.post("/pets", json=[{"name": "Ivy"}, {"name": "Rex"}])
    assert (reply.status_code, names(http)) == (409, ["Tom", "Rex", "Ola"])


@pytest.mark.parametrize("accept", ["application/json", "application/vnd.pgrst.object+json"])
def test_a_constraint_checked_at_commit(http: httpx.Client, accept: str) -> None:
    """A deferred foreign key fails when all is done: 409 and nothing kept, not 201."""
    reply = http.post("/later", json={"id": 1, "person_id": 99}, headers={**FULL, "Accept": accept})
    assert (reply.status_code, reply.json()["code"]) == (409, "23503")
    assert http.get("/later").json() == []
    assert http.post("/later", json={"id": 1, "person_id": 1}).status_code == 201
