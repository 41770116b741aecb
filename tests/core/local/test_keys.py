"""The keys of a data folder."""

from __future__ import annotations

import base64
import json

from core.local.keys import TEN_YEARS_S, new_keys, sign


def claims(key: str) -> dict[str, object]:
    part = key.split(".")[1]
    found: dict[str, object] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def test_each_folder_has_its_own_keys() -> None:
    """Two folders share no key, and no key is empty."""
    one, other = new_keys(), new_keys()
    assert len({one.anon, one.service_role, one.jwt_secret, other.anon, other.service_role, other.jwt_secret, ""}) == 7


def test_a_key_names_its_role_and_ends_some_day() -> None:
    """The claims are those that Supabase's own keys carry."""
    keys = new_keys()
    assert [claims(k)["role"] for k in (keys.anon, keys.service_role)] == ["anon", "service_role"]
    assert keys.roles() == {keys.anon: "anon", keys.service_role: "service_role"}
    body = claims(keys.anon)
    assert body["exp"] == int(str(body["iat"])) + TEN_YEARS_S


def test_the_signature_is_that_of_the_standard() -> None:
    """A known header, payload and secret give a known signature: HMAC SHA-256 in base64url without padding."""
    key = sign("secret", "anon", 0)
    assert key.split(".")[0] == "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
    assert sign("other", "anon", 0).split(".")[:2] == key.split(".")[:2]
    assert sign("other", "anon", 0) != key and "=" not in key


def test_secrets_do_not_print() -> None:
    """The representation of keys shows none of them."""
    keys = new_keys()
    assert keys.anon not in repr(keys) and keys.jwt_secret not in repr(keys)
