"""How sure a fact is, and what speaks against it. Source: spec/companion.md section 4."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.companion.reflect.facts import confidence, opposite

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.mark.parametrize(("times", "sure"), [(1, 0.3), (2, 0.5), (3, 0.7), (9, 0.7), (10, 0.9), (500, 0.9)])
def test_the_ladder(times: int, sure: float) -> None:
    """New, second, third and tenth time."""
    assert confidence(times, 0, NOW, NOW) == sure


def test_contradictions_and_bounds() -> None:
    """Each takes 0.15; never below 0 or above 0.95."""
    assert confidence(3, 1, NOW, NOW) == 0.55
    assert confidence(1, 9, NOW, NOW) == 0.0
    assert confidence(99, 0, NOW, NOW) <= 0.95


@pytest.mark.parametrize(("days", "less"), [(0, 0), (30, 0), (36, 0), (37, 1), (43, 1), (44, 2), (365, 47)])
def test_thirty_days_of_quiet_then_a_step_each_week(days: int, less: int) -> None:
    """Nothing in the first 30 days, then 0.05 a whole week (case 36)."""
    assert confidence(10, 0, NOW, NOW + timedelta(days=days)) == pytest.approx(max(0.0, 0.9 - 0.05 * less))


@pytest.mark.parametrize(
    ("before", "after", "opposed"),
    [
        ({"weekdays": [0, 1]}, {"weekdays": [1]}, False),
        ({"weekdays": [0, 1]}, {"weekdays": [4]}, True),
        ({"from_hour": 8}, {"from_hour": 12}, False),
        ({"from_hour": 8}, {"from_hour": 13}, True),
        ({"per_day": 2.0}, {"per_day": 3.0}, False),
        ({"per_day": 2.0}, {"per_day": 3.1}, True),
        ({"per_day": 2.0}, {"weekdays": [1]}, False),
    ],
)
def test_what_speaks_against_it(before: dict[str, object], after: dict[str, object], opposed: bool) -> None:
    """Weekdays without overlap, a window more than four hours away, a frequency off by more than half."""
    assert opposite(before, after) is opposed
