"""Keys and hashes equal those that the existing backend wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.memory.keys import (
    UNKNOWN_RU,
    UNKNOWN_TU,
    both_keys,
    chunk_hash,
    generic_key,
    is_unknown_key,
    key_order,
    tips_key,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", GOLDEN["dialog_keys"], ids=lambda c: c["ru"])
def test_golden_keys(case: dict[str, str]) -> None:
    """Both orders of each pair; they are not the same key."""
    assert both_keys(case["ru"], case["tu"]) == (case["tips"], case["generic"])
    assert tips_key(case["ru"], case["tu"]) != generic_key(case["tu"], case["ru"])


@pytest.mark.parametrize("case", GOLDEN["content_hashes"], ids=lambda c: c["source"])
def test_golden_hashes(case: dict[str, str]) -> None:
    """The hash of dialog, source, id and text."""
    assert chunk_hash(case["dialog_key"], case["source"], case["source_id"], case["text"]) == case["sha256"]


def test_code_points_make_the_hash() -> None:
    """Texts that look the same but are composed differently are two chunks, as they are in JavaScript."""
    assert chunk_hash("k", "note", "1", "Zo\u00eb") != chunk_hash("k", "note", "1", "Zoe\u0308")


def test_key_order() -> None:
    """A key names its order; without both ids, or chosen by somebody, it is custom."""
    assert key_order(tips_key("a", "b"), "a", "b") == "tips"
    assert key_order(generic_key("b", "a"), "a", "b") == "generic"
    assert key_order(tips_key("a", "b"), "a", None) == "custom"
    assert key_order("mine", "a", "b") == "custom"


def test_unknown_keys() -> None:
    """A key made with a placeholder is recognised in either order, whichever id is missing."""
    assert is_unknown_key(generic_key(UNKNOWN_TU, "a"), "a", None)
    assert is_unknown_key(generic_key("b", UNKNOWN_RU), None, "b")
    assert is_unknown_key(tips_key(UNKNOWN_RU, UNKNOWN_TU), None, None)
    assert is_unknown_key(generic_key(UNKNOWN_TU, "a"), "a", UNKNOWN_TU)
    assert not is_unknown_key(tips_key("a", "b"), "a", "b")
    assert not is_unknown_key("mine", None, None)
