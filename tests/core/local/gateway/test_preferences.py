"""The Prefer header."""

from __future__ import annotations

import pytest

from core.local.gateway.errors import Failure
from core.local.gateway.preferences import Preferences, parse_preferences


def test_all_that_is_known() -> None:
    """Each preference lands in its field, and is listed as applied."""
    text = (
        "return=representation,count=exact,resolution=merge-duplicates,missing=default,handling=strict,max-affected=5"
    )
    wants = parse_preferences(text)
    assert (wants.returned, wants.count, wants.resolution) == ("representation", "exact", "merge-duplicates")
    assert (wants.missing, wants.strict, wants.max_affected) == ("default", True, 5)
    assert list(wants.applied) == text.split(",")


def test_nothing() -> None:
    """An empty header wants nothing; unknown ones are passed over."""
    assert parse_preferences("") == Preferences()
    assert parse_preferences("count=none,foo,return=x") == Preferences()


def test_the_first_counts() -> None:
    """Of two contradicting preferences the first holds."""
    assert parse_preferences("return=minimal,return=representation").returned == "minimal"


def test_max_affected_needs_strict() -> None:
    """Without handling=strict it is neither used nor listed."""
    assert parse_preferences("max-affected=1") == Preferences()


def test_strict() -> None:
    """An unknown preference under handling=strict is 400 PGRST122."""
    with pytest.raises(Failure) as caught:
        parse_preferences("foo=1,handling=strict,bar")
    assert (caught.value.code, caught.value.details) == ("PGRST122", "Invalid preferences: foo=1, bar")
