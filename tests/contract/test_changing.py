"""Upsert, update and delete: which rows change, what comes back, and what undoes it all."""

from __future__ import annotations

import httpx
import pytest

FULL = {"Prefer": "return=representation"}


def names(http: httpx.Client, query: str = "") -> list[str]:
    return [row["name"] for row in http.get(f"/pets?select=name&order=id&{query}").json()]


MERGE = {"Prefer": "return=representation,resolution=merge-duplicates"}
IGNORE = {"Prefer": "return=representation,resolution=ignore-duplicates"}


def test_merge_by_primary_key(http: httpx.Client) -> None:
    """Without on_conflict the primary key decides; new rows and known ones in one request give 201."""
    rows = [{"a": 1, "b": 1, "value": "uno"}, {"a": 7, "b": 7, "value": "new"}]
    reply = http.post("/pairs", json=rows, headers=MERGE)
    assert (reply.status_code, reply.json()) == (201, rows)
    assert http.get("/pairs?a=eq.1&b=eq.1").json()[0]["value"] == "uno"


def test_merge_of_known_rows_is_200(http: httpx.Client) -> None:
    """Where nothing was new the status is 200."""
    assert http.post("/pairs", json={"a": 1, "b": 1, "value": "uno"}, headers=MERGE).status_code == 200


def test_merge_by_another_key(http: httpx.Client) -> None:
    """on_conflict names the columns of a unique constraint; only the columns given are overwritten."""
    reply = http.post(
        "/pets?on_conflict=name&select=name,kind,weight", json={"name": "Rex", "weight": 21}, headers=MERGE
    )
    assert (reply.status_code, reply.json()) == (200, [{"name": "Rex", "kind": "dog", "weight": 21}])


def test_ignore_leaves_the_row(http: httpx.Client) -> None:
    """ignore-duplicates changes nothing and returns only what was new."""
    rows = [{"name": "Rex", "kind": "fox"}, {"name": "Ivy", "kind": "fox"}]
    reply = http.post("/pets?on_conflict=name&select=name", json=rows, headers=IGNORE)
    assert (reply.status_code, reply.json()) == (201, [{"name": "Ivy"}])
    assert http.get("/pets?name=eq.Rex&select=kind").json() == [{"kind": "dog"}]


def test_conflict_column_unknown(http: httpx.Client) -> None:
    """on_conflict with a column that is not there is 42703; one without a constraint is 42P10; both 400."""
    for column, code in (("nope", "42703"), ("kind", "42P10")):
        reply = http.post(f"/pets?on_conflict={column}", json={"name": "Ivy"}, headers=MERGE)
        assert (reply.status_code, reply.json()["code"]) == (400, code)


def test_resolution_without_any_key(http: httpx.Client) -> None:
    """A table without a primary key just takes the row."""
    assert http.post("/keyless", json={"value": "x"}, headers=MERGE).json() == [{"value": "x"}]


def test_update(http: httpx.Client) -> None:
    """A filter chooses the rows; the representation shows them as they are now."""
    reply = http.patch("/pets?kind=eq.dog&select=name,weight&order=name.desc", json={"weight": 1}, headers=FULL)
    assert (reply.status_code, reply.json()) == (200, [{"name": "Rex", "weight": 1}, {"name": "Ola", "weight": 1}])
    assert reply.headers["content-range"] == "0-1/*"


def test_update_without_return(http: httpx.Client) -> None:
    """204 without a body; with count=exact the number of rows."""
    reply = http.patch("/pets?kind=eq.dog", json={"weight": 1}, headers={"Prefer": "count=exact"})
    assert (reply.status_code, reply.content, reply.headers["content-range"]) == (204, b"", "0-1/2")


def test_update_of_nothing(http: httpx.Client) -> None:
    """No row matches: 200 and an empty list, no error."""
    reply = http.patch("/pets?id=eq.99", json={"weight": 1}, headers=FULL)
    assert (reply.status_code, reply.json(), reply.headers["content-range"]) == (200, [], "*/*")


def test_update_without_a_filter(http: httpx.Client) -> None:
    """It is the whole table, as with PostgREST: callers must mean it."""
    assert len(http.patch("/pets", json={"weight": 9}, headers=FULL).json()) == 3


def test_update_to_null_and_json(http: httpx.Client) -> None:
    """null is a value; JSON replaces JSON."""
    row = http.patch("/pets?name=eq.Tom", json={"weight": None, "meta": {"b": []}}, headers=FULL).json()[0]
    assert (row["weight"], row["meta"]) == (None, {"b": []})


def test_update_by_tree(http: httpx.Client) -> None:
    """Trees of conditions choose rows to write as they do rows to read."""
    reply = http.patch("/pets?or=(name.eq.Tom,and(kind.eq.dog,weight.gt.15))", json={"status": "hit"}, headers=FULL)
    assert sorted(row["name"] for row in reply.json()) == ["Rex", "Tom"]


def test_delete(http: httpx.Client) -> None:
    """What was deleted comes back on demand, and is gone."""
    reply = http.request("DELETE", "/pets?kind=eq.dog&select=name", json={}, headers=FULL)
    assert (reply.status_code, sorted(row["name"] for row in reply.json())) == (200, ["Ola", "Rex"])
    assert names(http) == ["Tom"]


def test_delete_without_return(http: httpx.Client) -> None:
    """204; with count=exact the number of rows."""
    reply = http.delete("/pets?kind=eq.dog", headers={"Prefer": "count=exact"})
    assert (reply.status_code, reply.content, reply.headers["content-range"]) == (204, b"", "*/2")


STRICT = {"Prefer": "return=representation,handling=strict,max-affected=1"}


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_too_many_affected(http: httpx.Client, method: str) -> None:
    """More rows than max-affected allows: 400 PGRST124, and nothing is kept."""
    reply = http.request(method, "/pets?kind=eq.dog", json={"status": "hit"}, headers=STRICT)
    assert (reply.status_code, reply.json()["code"]) == (400, "PGRST124")
    assert reply.json()["details"] == "The query affects 2 rows"
    assert names(http, "status=neq.hit") == ["Tom", "Rex", "Ola"]


def test_few_enough_affected(http: httpx.Client) -> None:
    """Within the limit the change holds; without handling=strict the limit does not count."""
    assert len(http.patch("/pets?name=eq.Tom", json={"status": "hit"}, headers=STRICT).json()) == 1
    lenient = {"Prefer": "return=representation,max-affected=1"}
    assert len(http.patch("/pets?kind=eq.dog", json={"status": "hit"}, headers=lenient).json()) == 2


def test_single_object_of_a_write(http: httpx.Client) -> None:
    """One changed row may come as an object; if there are two, nothing is changed at all."""
    headers = {**FULL, "Accept": "application/vnd.pgrst.object+json"}
    assert http.patch("/pets?name=eq.Tom&select=name", json={"weight": 2}, headers=headers).json() == {"name": "Tom"}
    reply = http.patch("/pets?kind=eq.dog", json={"weight": 2}, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (406, "PGRST116")
    assert http.get("/pets?weight=eq.2&select=name").json() == [{"name": "Tom"}]


def test_representation_of_a_json_path(http: httpx.Client) -> None:
    """The representation knows aliases, casts and paths like any select."""
    row = http.patch(
        "/pets?name=eq.Tom&select=n:name,w:weight::text,meta->>a", json={"weight": 2}, headers=FULL
    ).json()[0]
    assert row == {"n": "Tom", "w": "2", "a": "1"}
