"""Whom a cookie of Streamlit's sign-in stands for."""

from __future__ import annotations

import json

import pytest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from pages._shared.web import person as module
from pages._shared.web.person import person

SECRET = "a secret of thirty-two characters"
NAME = "_streamlit_user"


def cookie(claims: object, secret: str = SECRET) -> dict[str, str]:
    return {NAME: create_signed_value(secret, NAME, json.dumps(claims)).decode()}


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "get_cookie_secret", lambda: SECRET)


def test_one_person_has_one_name_that_says_nothing() -> None:
    """Of issuer and subject alone, whatever else the provider tells."""
    ann = cookie({"iss": "https://idp", "sub": "ann", "email": "ann@example.org"})
    later = cookie({"iss": "https://idp", "sub": "ann", "name": "Ann"})
    other = cookie({"iss": "https://other", "sub": "ann"})
    assert person(ann) == person(later) != person(other)
    assert "ann" not in (person(ann) or "")


@pytest.mark.parametrize(
    "cookies",
    [
        {},
        {NAME: "forged"},
        cookie({"iss": "https://idp", "sub": "ann"}, "another secret of that length"),
        cookie({"iss": "https://idp"}),
        cookie("text"),
        cookie(None),
    ],
)
def test_what_nobody_signed_is_nobody(cookies: dict[str, str]) -> None:
    """Nor is what names no subject."""
    assert person(cookies) is None
