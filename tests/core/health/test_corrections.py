"""The verdict on corrections: the erased person first, counts alone."""

from __future__ import annotations

from typing import Any

import pytest

from core.bootstrap import Core
from core.health.corrections import judge_corrections
from tests.support.dialogs import body

CALM: dict[str, Any] = {"erasures": 1, "written_again": [], "reopened": [], "tombstones": 2, "revived": 0}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, ""),
        ({"revived": 2}, "revived"),
        ({"reopened": [{"kept_key": "a"}], "revived": 2}, "merged_written_again"),
        ({"written_again": [{"dialog_key": "secret"}], "reopened": [{}]}, "erased_written_again"),
    ],
)
def test_verdicts(change: dict[str, Any], code: str) -> None:
    """The worst is named, and no key is."""
    verdict = judge_corrections(CALM | change)
    assert (verdict.code, verdict.status) == (code, "degraded" if code else "ok")
    assert "secret" not in str(verdict)


def test_an_erased_dialog_comes_back(core: Core) -> None:
    """Health says so as soon as it is written."""
    core.ingest.ingest(body("k1"))
    core.erasures.erase("k1", "test")
    core.ingest.ingest(body("k1"))
    component = next(c for c in core.health.report().components if c.name == "corrections")
    assert (component.status, component.code) == ("degraded", "erased_written_again")
