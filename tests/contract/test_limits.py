"""The cap of 1,000 rows, and how large a request may be."""

from __future__ import annotations

import contextlib
import socket
import uuid

import httpx
from supabase import Client

from core.local.gateway.config import MAX_BODY_BYTES
from tests.contract.served import Served


def test_tables_are_capped(http: httpx.Client) -> None:
    """1,000 rows whatever was asked, as on the hosted database; the count tells of the rest."""
    for query in ("", "&limit=5000"):
        reply = http.get(f"/many?order=id{query}", headers={"Prefer": "count=exact"})
        assert (reply.status_code, len(reply.json()), reply.headers["content-range"]) == (206, 1000, "0-999/2500")


def test_the_rest_by_pages(http: httpx.Client) -> None:
    """An offset goes on behind the cap; the last page is short."""
    assert [row["id"] for row in http.get("/many?order=id&offset=2000").json()] == list(range(2001, 2501))


def test_sets_from_functions_are_capped(http: httpx.Client) -> None:
    """A set of rows or of scalars is cut at 1,000, on POST and GET."""
    assert len(http.post("/rpc/numbers", json={"n": 1500}).json()) == 1000
    assert len(http.get("/rpc/numbers?n=1500&limit=1200").json()) == 1000


def test_one_json_value_is_not_capped(http: httpx.Client) -> None:
    """One JSON value is one row, however long a list it holds."""
    assert len(http.post("/rpc/many_as_json", json={"n": 12_000}).json()) == 12_000


def test_writes_are_not_capped(http: httpx.Client) -> None:
    """What was written comes back whole."""
    rows = [{"a": 100, "b": number} for number in range(1500)]
    headers = {"Prefer": "return=representation"}
    assert len(http.post("/pairs?columns=a,b", json=rows, headers=headers).json()) == 1500
    assert len(http.patch("/pairs?a=eq.100", json={"value": "x"}, headers=headers).json()) == 1500
    assert len(http.request("DELETE", "/pairs?a=eq.100", headers=headers).json()) == 1500


def test_long_url(supabase: Client) -> None:
    """A filter with 1,000 ids (39 kB of URL) is read."""
    wanted = [str(uuid.uuid4()) for _ in range(1000)]
    row = supabase.table("tickets").insert({"id": wanted[999]}).execute().data[0]
    assert supabase.table("tickets").select("id").in_("id", wanted).execute().data == [{"id": row["id"]}]


def test_large_body(http: httpx.Client) -> None:
    """Ten megabytes go in and out whole."""
    text = "ж" * 5_000_000
    stored = http.post("/keyless", json={"value": text}, headers={"Prefer": "return=representation"})
    assert stored.json()[0]["value"] == text


def test_declared_body_too_large(gateway: Served) -> None:
    """A length beyond the limit is 413 before a byte of it is read."""
    host, port = gateway.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /rest/v1/keyless HTTP/1.1\r\nHost: x\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_undeclared_body_too_large(http: httpx.Client) -> None:
    """In pieces without a length it is cut off there too, and nothing is stored."""
    piece = b" " * 1_000_000
    pieces = (piece for _ in range(MAX_BODY_BYTES // len(piece) + 20))
    # the connection may end while the client still writes
    with contextlib.suppress(httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        assert http.post("/keyless", content=pieces, headers={"Content-Type": "application/json"}).status_code == 413
    assert http.get("/keyless").json() == []
