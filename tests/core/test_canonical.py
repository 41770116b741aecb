"""Canonical JSON equals what the existing backend hashed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.canonical import canonical_json, content_hash

GOLDEN = json.loads((Path(__file__).parents[1] / "golden.json").read_text(encoding="utf-8"))["snapshot_hashes"]


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: c["canonical"][:40])
def test_golden(case: dict[str, str]) -> None:
    """Text and hash of every golden value."""
    value = json.loads(case["json"])
    assert canonical_json(value) == case["canonical"]
    assert content_hash(value) == case["sha256"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53 + 1, "9007199254740992"),
        (10**21, "1e+21"),
        (-0.0, "0"),
        (1.0, "1"),
        (5e-324, "5e-324"),
        (
            {"4294967295": 1, "4294967294": 2, "00": 3, "0": 4, "-1": 5},
            '{"0":4,"4294967294":2,"-1":5,"00":3,"4294967295":1}',
        ),
        ({"\u0661": 1, "1": 2}, '{"1":2,"\u0661":1}'),
        ("\ud800", '"\\ud800"'),
        ({"a": (1, None, True)}, '{"a":[1,null,true]}'),
    ],
)
def test_javascript_habits(value: Any, text: str) -> None:
    """Large integers as doubles, index keys first and in numeric order, lone surrogates escaped."""
    assert canonical_json(value) == text


def test_javascript_knows_no_infinity() -> None:
    """NaN, infinities and integers beyond a double are refused, not written."""
    for value in (float("nan"), float("inf"), [float("-inf")]):
        with pytest.raises(ValueError, match="no NaN"):
            canonical_json(value)
    with pytest.raises((ValueError, OverflowError)):
        canonical_json(10**400)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e15, 1e15) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=15,
)


@given(json_values)
def test_order_of_keys_is_no_matter(value: Any) -> None:
    """Reading what was written gives an equal value, and writing that gives the same text."""
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text
    if isinstance(value, dict):
        assert content_hash(dict(reversed(value.items()))) == content_hash(value)
