"""What the database cannot hold is changed as little as possible, and said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import InputError
from core.memory.notices import Findings
from core.services.storable import DEPTH_LIMIT, clean


def test_what_jsonb_cannot_hold() -> None:
    """NUL and halves of characters go, infinite numbers become null as in JavaScript, each with a notice."""
    findings = Findings()
    value = {"name": "a\0b\ud800", "k\0": [float("inf"), 10**400], "fine": [1.5, True, None, 10**21]}
    assert clean(value, "profileRu", findings) == {"name": "ab", "k": [None, None], "fine": [1.5, True, None, 10**21]}
    assert sorted(n.count for n in findings.notices()) == [2, 2]


@pytest.mark.parametrize(("levels", "refused"), [(DEPTH_LIMIT, False), (DEPTH_LIMIT + 2, True)])
def test_depth(levels: int, refused: bool) -> None:
    """A hundred levels pass; more are refused by the name of the field."""
    value: Any = json.loads("[" * levels + "]" * levels)
    if not refused:
        assert clean(value, "profileRu", Findings()) == value
        return
    with pytest.raises(InputError) as wrong:
        clean(value, "profileRu", Findings())
    assert wrong.value.field == "profileRu"
