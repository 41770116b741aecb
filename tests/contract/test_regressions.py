"""Faults that a first draft of the gateway had, one test each; most were found by PostgREST's own specification."""

from __future__ import annotations

import httpx
import pytest

FULL = {"Prefer": "return=representation"}


def test_update_of_the_filtered_column(http: httpx.Client) -> None:
    """UPDATE .. FROM the body: an unqualified filter on a column that is also set was ambiguous (42702)."""
    reply = http.patch("/pets?status=eq.new&select=name,status&order=name", json={"status": "old"}, headers=FULL)
    assert (reply.status_code, [row["name"] for row in reply.json()]) == (200, ["Rex", "Tom"])


def test_update_of_the_filtered_column_in_a_tree(http: httpx.Client) -> None:
    """The same inside or=, with a JSON path and an order by the column set."""
    path = "/pets?or=(status.eq.new,meta->>a.eq.2)&order=status,name&select=name"
    reply = http.patch(path, json={"status": "old", "meta": {}}, headers=FULL)
    assert [row["name"] for row in reply.json()] == ["Ola", "Rex", "Tom"]


def test_no_helper_column_leaks(http: httpx.Client) -> None:
    """What tells 200 from 201 does not show in `select=*`."""
    headers = {"Prefer": "return=representation,resolution=merge-duplicates"}
    reply = http.post("/pairs?select=*", json={"a": 1, "b": 1, "value": "x"}, headers=headers)
    assert (reply.status_code, reply.json()) == (200, [{"a": 1, "b": 1, "value": "x"}])


def test_upsert_into_a_partitioned_table(http: httpx.Client) -> None:
    """The xmax trick fails on a partitioned table; the counter does not."""
    headers = {"Prefer": "return=representation,resolution=merge-duplicates"}
    known = {"id": 1, "day": "2026-05-01", "value": "new"}
    assert http.post("/parted", json=known, headers=headers).status_code == 200
    assert http.post("/parted", json=[known, {**known, "id": 2}], headers=headers).status_code == 201


def test_upsert_counter_does_not_stay(http: httpx.Client) -> None:
    """The counter of one request is gone at the next, on the same connection."""
    headers = {"Prefer": "resolution=merge-duplicates"}
    for number in range(6):
        assert http.post("/pairs", json={"a": 50, "b": number}, headers=headers).status_code == 201
        assert http.post("/pairs", json={"a": 50, "b": number}, headers=headers).status_code == 200


def test_upsert_of_nothing(http: httpx.Client) -> None:
    """An empty list inserts nothing, so it is 200."""
    headers = {"Prefer": "return=representation,resolution=merge-duplicates"}
    reply = http.post("/pairs", json=[], headers=headers)
    assert (reply.status_code, reply.json()) == (200, [])


def test_no_count_unless_asked(http: httpx.Client) -> None:
    """count=none is no count: the total stays unknown."""
    for headers in ({}, {"Prefer": "count=none"}):
        assert http.get("/people?limit=2", headers=headers).headers["content-range"] == "0-1/*"


@pytest.mark.parametrize("method", ["HEAD", "POST", "PATCH", "DELETE"])
def test_range_header_counts_for_get_alone(http: httpx.Client, method: str) -> None:
    """A Range header cuts GET; with any other method it is ignored, and never limits what is written."""
    headers = {"Range": "0-0", **FULL, "Prefer": "return=representation,count=exact"}
    body = [{"name": "Ivy"}, {"name": "Moe"}] if method == "POST" else {"status": "hit"}
    reply = http.request(method, "/pets", json=body if method in ("POST", "PATCH") else None, headers=headers)
    if method == "HEAD":
        assert reply.headers["content-range"] == "0-2/3"
    else:
        assert len(reply.json()) == (2 if method == "POST" else 3)


def test_416_says_how_many_there_are(http: httpx.Client) -> None:
    """Past the end of a counted result: 416 with Content-Range */N, so that a client can go back."""
    reply = http.get("/people?offset=10", headers={"Prefer": "count=exact"})
    assert (reply.status_code, reply.headers["content-range"], reply.json()["code"]) == (416, "*/5", "PGRST103")
    assert reply.json()["details"] == "An offset of 10 was requested, but there are only 5 rows."


def test_a_range_that_ends_before_it_begins(http: httpx.Client) -> None:
    """416 with the reason."""
    reply = http.get("/people", headers={"Range": "5-2"})
    assert (reply.status_code, reply.json()["code"]) == (416, "PGRST103")


def test_failed_head_carries_the_code(http: httpx.Client) -> None:
    """No body, so the code travels in Proxy-Status."""
    reply = http.head("/nope")
    assert (reply.status_code, reply.content) == (404, b"")
    assert reply.headers["proxy-status"] == "PostgREST; error=PGRST205"


@pytest.mark.parametrize("body", [{}, []])
def test_update_with_nothing_to_set(http: httpx.Client, body: object) -> None:
    """PATCH with {} or [] changes nothing: 204, or 200 with an empty list."""
    assert http.patch("/pets?id=eq.1", json=body).status_code == 204
    reply = http.patch("/pets?id=eq.1", json=body, headers=FULL)
    assert (reply.status_code, reply.json()) == (200, [])


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_representation_is_ordered(http: httpx.Client, method: str) -> None:
    """Changed rows come in the order asked for, also by a column that select leaves out."""
    reply = http.request(method, "/pets?select=name&order=weight.desc", json={"status": "hit"}, headers=FULL)
    assert [row["name"] for row in reply.json()] == ["Rex", "Ola", "Tom"]


def test_limit_of_a_representation(http: httpx.Client) -> None:
    """limit cuts what is shown, not what is written."""
    reply = http.patch("/pets?select=name&order=name&limit=1", json={"status": "hit"}, headers=FULL)
    assert reply.json() == [{"name": "Ola"}]
    assert len(http.get("/pets?status=eq.hit").json()) == 3


def test_an_error_spoils_no_connection(http: httpx.Client) -> None:
    """After a failed statement the same statements go on: a prepared one was missing on the server (26000)."""
    for _ in range(3):
        for _ in range(8):
            assert http.get("/people?id=eq.1&select=id").json() == [{"id": 1}]
            assert http.post("/pets", json={"name": "Tom"}).status_code == 409
            assert http.get("/people?id=eq.x&select=id").status_code == 400


def test_keep_alive_is_fast(http: httpx.Client) -> None:
    """Forty requests on one connection take less than the 40 ms each that a socket without TCP_NODELAY costs."""
    http.get("/pairs")
    seconds = sorted(http.get("/pairs").elapsed.total_seconds() for _ in range(40))
    assert seconds[20] < 0.03
