"""Keys and tokens, without a network."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from core.local.gateway.auth import identify
from core.local.gateway.config import GatewayConfig
from core.local.gateway.errors import Failure
from core.local.keys import sign

CONFIG = GatewayConfig("", 0, Path("r"), {"one": "anon", "two": "service_role"}, "secret")


def headers(key: str, bearer: str | None = None) -> dict[str, str]:
    return {"apikey": key, **({"authorization": f"Bearer {bearer}"} if bearer else {})}


def test_key_and_bearer() -> None:
    """The key opens the door, the bearer token decides the role."""
    assert identify(headers("one"), CONFIG).role == "anon"
    assert identify(headers("one", "two"), CONFIG).role == "service_role"


def test_jwt_of_the_data_folder() -> None:
    """A JWT signed with the secret is a key by itself, and SQL sees its claims."""
    caller = identify(headers(sign("secret", "service_role", int(time.time()))), CONFIG)
    assert caller.role == "service_role" and json.loads(caller.claims)["iss"] == "memory-desk"


@pytest.mark.parametrize("key", ["", "three", "on", "one ", sign("other", "anon", 0), "..", "a.b", "é"])
def test_unknown_key(key: str) -> None:
    """401 for anything else."""
    with pytest.raises(Failure) as caught:
        identify(headers(key), CONFIG)
    assert caught.value.status == 401


def test_no_secret_signs_nothing() -> None:
    """An empty secret would let anybody sign: no token holds then."""
    config = GatewayConfig("", 0, Path("r"), {"one": "anon"}, "")
    with pytest.raises(Failure):
        identify(headers("one", sign("", "service_role", int(time.time()))), config)


def test_other_schemes_are_no_token() -> None:
    """Basic credentials are ignored: the key's own role holds."""
    assert identify({"apikey": "one", "authorization": "Basic dHdvOg=="}, CONFIG).role == "anon"
