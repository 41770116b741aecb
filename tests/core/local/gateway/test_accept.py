"""The Accept header."""

from __future__ import annotations

import pytest

from core.local.gateway.accept import Accepted, parse_accept
from core.local.gateway.errors import Failure

OBJECT, ARRAY = "application/vnd.pgrst.object+json", "application/vnd.pgrst.array+json"


@pytest.mark.parametrize(
    ("header", "single", "strip"),
    [
        (None, False, False),
        ("", False, False),
        ("*/*", False, False),
        ("application/json", False, False),
        ("text/html,application/json;q=0.9", False, False),
        (OBJECT, True, False),
        ("application/vnd.pgrst.object", True, False),
        (f"{OBJECT};nulls=stripped", True, True),
        (f"{ARRAY};nulls=stripped", False, True),
        (ARRAY, False, False),
    ],
)
def test_accepted(header: str | None, single: bool, strip: bool) -> None:
    """One object or an array, with or without nulls."""
    accepted = parse_accept(header)
    assert (accepted.single, accepted.strip) == (single, strip)


def test_media() -> None:
    """The answer names the type it has."""
    assert parse_accept(OBJECT).media == f"{OBJECT}; charset=utf-8"
    assert parse_accept(ARRAY).media == Accepted().media


def test_refused() -> None:
    """406 PGRST107 for what cannot be made."""
    with pytest.raises(Failure) as caught:
        parse_accept("text/csv")
    assert (caught.value.status, caught.value.code) == (406, "PGRST107")
