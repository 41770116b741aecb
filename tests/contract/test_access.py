"""Who may do what: keys and tokens, roles, row-level security and grants, time limits."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.contract.served import Served, token


def call(served: Served, key: str | None, bearer: str | None, path: str = "/rest/v1/rpc/who") -> httpx.Response:
    headers = {"apikey": key} if key else {}
    if bearer:
        headers["authorization"] = f"Bearer {bearer}"
    return httpx.get(served.url + path, headers=headers)


IN_AN_HOUR = int(time.time()) + 3600


@pytest.mark.parametrize(
    ("key", "bearer", "role"),
    [
        ("anon-key", None, "anon"),
        ("anon-key", "anon-key", "anon"),
        ("user-key", "user-key", "authenticated"),
        ("service-key", "service-key", "service_role"),
        ("anon-key", "service-key", "service_role"),
        ("anon-key", token({"role": "authenticated", "exp": IN_AN_HOUR}), "authenticated"),
        ("anon-key", token({"role": "service_role"}), "service_role"),
        ("anon-key", token({"sub": "somebody"}), "anon"),
        (token({"role": "service_role"}), None, "service_role"),
        (token({"role": "anon"}), token({"role": "anon"}), "anon"),
    ],
)
def test_role(gateway: Served, key: str, bearer: str | None, role: str) -> None:
    """The bearer token decides, be it an opaque key or a JWT; without one the API key does."""
    reply = call(gateway, key, bearer)
    assert (reply.status_code, reply.json()) == (200, role)


@pytest.mark.parametrize(
    ("key", "bearer", "code"),
    [
        (None, None, "401"),
        (None, "service-key", "401"),
        ("wrong", "service-key", "401"),
        ("service-key2", None, "401"),
        ("anon-key", "nonsense", "PGRST301"),
        ("anon-key", "a.b.c", "PGRST301"),
        ("anon-key", token({"role": "service_role"}, secret="another"), "PGRST301"),
        ("anon-key", token({"role": "service_role"}, algorithm="none"), "PGRST301"),
        ("anon-key", token({"role": "service_role"}, algorithm="HS512"), "PGRST301"),
        ("anon-key", token({"role": "service_role"}).rpartition(".")[0] + ".", "PGRST301"),
        ("anon-key", token({"role": "service_role", "exp": 1}), "PGRST303"),
        ("anon-key", token({"role": "service_role", "nbf": IN_AN_HOUR}), "PGRST303"),
        ("anon-key", token({"role": "service_role", "exp": "soon"}), "PGRST303"),
        ("anon-key", token({"role": "postgres"}), "22023"),
        ("anon-key", token({"role": ["service_role"]}), "22023"),
        (token({"role": "service_role"}, secret="another"), None, "401"),
    ],
)
def test_refused(gateway: Served, key: str | None, bearer: str | None, code: str) -> None:
    """401 in the form of every other error, for a missing, foreign, forged or expired key."""
    reply = call(gateway, key, bearer)
    assert (reply.status_code, reply.json()["code"]) == (401, code)


@pytest.mark.parametrize(("key", "status"), [("anon-key", 200), ("service-key", 200), ("wrong", 401), (None, 401)])
def test_health(gateway: Served, key: str | None, status: int) -> None:
    """/auth/v1/health answers whoever has a valid key, and says nothing to others."""
    reply = call(gateway, key, None, "/auth/v1/health")
    assert reply.status_code == status
    assert set(reply.json()) == (
        {"name", "version", "description"} if status == 200 else {"code", "message", "details", "hint"}
    )


def test_claims_reach_sql(gateway: Served) -> None:
    """SQL sees the token's claims, and for an opaque key at least the role."""
    claims: dict[str, Any] = {"role": "authenticated", "sub": "5", "app": {"a": [1]}}
    assert call(gateway, "anon-key", token(claims), "/rest/v1/rpc/claims").json() == claims
    assert call(gateway, "anon-key", None, "/rest/v1/rpc/claims").json() == {"role": "anon"}


def test_claims_do_not_stay(gateway: Served) -> None:
    """Role and claims of one request are gone at the next, on the same connection."""
    for _ in range(3):
        assert call(gateway, "service-key", None).json() == "service_role"
        assert call(gateway, "anon-key", None).json() == "anon"


def test_row_level_security(anon: httpx.Client, user: httpx.Client, http: httpx.Client) -> None:
    """Without a policy anon and authenticated see no row, service_role all."""
    assert [client.get("/hidden?select=id").json() for client in (anon, user, http)] == [[], [], [{"id": 1}]]


def test_row_level_security_on_writes(anon: httpx.Client, user: httpx.Client, http: httpx.Client) -> None:
    """A write against row-level security is 42501: 401 for anon, who may sign in, and 403 for others."""
    for client, status in ((anon, 401), (user, 403)):
        reply = client.post("/hidden", json={"id": 2})
        assert (reply.status_code, reply.json()["code"]) == (status, "42501")
    assert http.post("/hidden", json={"id": 2}).status_code == 201
    assert anon.patch("/hidden?id=eq.1", json={"body": "x"}, headers={"Prefer": "return=representation"}).json() == []


def test_grants(anon: httpx.Client, user: httpx.Client, http: httpx.Client) -> None:
    """A table that is not granted is 42501, and anon is told how to come in."""
    assert anon.get("/closed").status_code == 401
    assert anon.get("/closed").headers["www-authenticate"] == "Bearer"
    assert user.get("/closed").status_code == 403
    assert http.get("/closed").json() == [{"id": 1}]


def test_column_grants_are_not_widened_or_narrowed(anon: httpx.Client) -> None:
    """With a grant on two of three columns those two can be read; `*` is refused, not silently cut."""
    assert anon.get("/half_open?select=id,open").json() == [{"id": 1, "open": "yes"}]
    assert anon.get("/half_open").status_code == 401
    assert anon.get("/half_open?select=id&order=shut").status_code == 401


def test_function_grants(anon: httpx.Client, user: httpx.Client, http: httpx.Client) -> None:
    """A function for service_role alone is refused to the others, not hidden."""
    assert [c.post("/rpc/for_service_only").status_code for c in (anon, user, http)] == [401, 403, 200]


def test_time_limits_of_roles(anon: httpx.Client, user: httpx.Client, http: httpx.Client) -> None:
    """3 s for anon, 8 s for the others, as the hosted database has them."""
    assert [c.post("/rpc/role_timeout").json() for c in (anon, user, http)] == ["3s", "8s", "8s"]


def test_time_limit_ends_a_statement(anon: httpx.Client) -> None:
    """After the limit the statement is cancelled: 500 with 57014."""
    began = time.monotonic()
    reply = anon.post("/rpc/nap", json={"seconds": 6})
    assert (reply.status_code, reply.json()["code"]) == (500, "57014")
    assert 2.9 < time.monotonic() - began < 5.5


def test_own_time_limit_is_hoisted(anon: httpx.Client, http: httpx.Client) -> None:
    """A function's own `set statement_timeout` holds for its call, longer or shorter than the role's."""
    assert http.post("/rpc/own_timeout").json() == "20s"
    assert http.post("/rpc/short_nap", json={"seconds": 3}).json()["code"] == "57014"
    assert anon.post("/rpc/long_nap", json={"seconds": 3.2}).json() == "rested"


def test_own_time_limit_does_not_stay(http: httpx.Client) -> None:
    """The next call on the same connection has the role's limit again."""
    http.post("/rpc/own_timeout")
    assert http.post("/rpc/role_timeout").json() == "8s"
