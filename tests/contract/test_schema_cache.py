"""A gateway that runs while migrations do: what is new is found, what changed is noticed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.contract.served import Served


@pytest.fixture
def migrate(gateway: Served) -> Iterator[Served]:
    """For tests that change the schema; what they make is dropped."""
    yield gateway
    gateway.sql("drop table if exists late; drop function if exists late_function; notify pgrst, 'reload schema'")


def test_new_table(migrate: Served, http: httpx.Client) -> None:
    """A table made a moment ago is found without a word to the gateway."""
    assert http.get("/late").status_code == 404
    migrate.sql("create table late (id int); grant all on late to service_role")
    assert http.get("/late").json() == []


def test_new_columns_in_quick_succession(migrate: Served, http: httpx.Client) -> None:
    """Each new column is found at once: no waiting time after the last reading hides it (it was PGRST204)."""
    migrate.sql("create table late (id int); grant all on late to service_role")
    for number in range(4):
        migrate.sql(f"alter table late add column c{number} int")
        assert http.post("/late", json={f"c{number}": 1}).status_code == 201
        assert http.get(f"/late?select=c{number}&c{number}=eq.1").json() == [{f"c{number}": 1}]


def test_dropped_column_and_table(migrate: Served, http: httpx.Client) -> None:
    """What is gone is reported as gone, by Postgres or by the cache read anew."""
    migrate.sql("create table late (id int, gone int); grant all on late to service_role")
    assert http.get("/late?select=gone").status_code == 200
    migrate.sql("alter table late drop column gone")
    assert http.get("/late?select=gone").json()["code"] == "42703"
    migrate.sql("drop table late")
    assert http.get("/late").json()["code"] == "PGRST205"


def test_new_and_replaced_function(migrate: Served, http: httpx.Client) -> None:
    """A new function, and one with other arguments, are found on the next call."""
    assert http.post("/rpc/late_function", json={}).status_code == 404
    migrate.sql("create function late_function() returns int language sql as 'select 1'")
    assert http.post("/rpc/late_function", json={}).json() == 1
    migrate.sql(
        "drop function late_function; create function late_function(n int) returns int language sql as 'select n'"
    )
    assert http.post("/rpc/late_function", json={"n": 2}).json() == 2


def test_notify(migrate: Served, http: httpx.Client) -> None:
    """Where nothing would be missed (a scalar became a set), `notify pgrst` tells the gateway."""
    migrate.sql("create function late_function() returns int language sql as 'select 1'")
    assert http.post("/rpc/late_function").json() == 1
    migrate.sql(
        "drop function late_function; create function late_function() returns setof int language sql as 'select 1';"
        " notify pgrst, 'reload schema'"
    )
    until = time.monotonic() + 5
    while http.post("/rpc/late_function").json() != [1] and time.monotonic() < until:
        time.sleep(0.02)
    assert http.post("/rpc/late_function").json() == [1]
