"""How a streak stands on a day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from core.companion.reflect.standing import standing

TODAY = date(2026, 11, 30)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("gap", "seed", "strict"),
    [
        (0, "active", "active"),
        (1, "active", "at_risk"),
        (2, "at_risk", "broken"),
        (3, "broken", "broken"),
        (-1, "active", "active"),
    ],
)
def test_the_table_of_gaps(gap: int, seed: str, strict: str) -> None:
    """With a day of grace and without; a closing one is judged by yesterday; nothing ever counted is broken."""
    last = TODAY - gap * DAY
    assert (standing(last, TODAY, 1), standing(last, TODAY, 0)) == (seed, strict)
    assert standing(last - DAY, TODAY, 0, closing=True) == strict
    assert standing(None, TODAY, 1) == "broken"
