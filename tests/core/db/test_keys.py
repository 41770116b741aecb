"""The role that a key's form names."""

from __future__ import annotations

import base64
import json

import pytest

from core.db.keys import key_role


def _jwt(claims: object) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{body}.signature"


@pytest.mark.parametrize(
    ("key", "role"),
    [
        ("sb_secret_abc", "service_role"),
        ("sb_publishable_abc", "anon"),
        (_jwt({"role": "service_role"}), "service_role"),
        (_jwt({"role": "anon"}), "anon"),
        (_jwt({"role": "authenticated"}), "unknown"),
        (_jwt(["anon"]), "unknown"),
        ("a.b.c", "unknown"),
        ("a.\u0416.c", "unknown"),
        ("", "unknown"),
    ],
)
def test_key_role(key: str, role: str) -> None:
    """Both generations of keys name their role; anything else is unknown and never an exception."""
    assert key_role(key) == role
