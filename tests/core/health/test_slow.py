"""Slow with a dead band. Case 19."""

from __future__ import annotations

import pytest

from core.health.slow import Slowness


def _after(*answers: float | None) -> bool:
    slowness = Slowness()
    slow = False
    for answer in answers:
        slow = slowness.see("database", answer)
    return slow


@pytest.mark.parametrize(
    ("answers", "slow"),
    [
        ((1200.0, 1200.0), False),
        ((1200.0, 1200.0, 1200.0), True),
        ((990.0, 1010.0) * 60, False),
        ((1010.0, 1010.0, 990.0) * 20, False),
        ((1200.0,) * 3 + (900.0,) * 20, True),
        ((1200.0,) * 3 + (700.0,) * 3, False),
        ((1200.0,) * 3 + (700.0, 900.0) * 10, True),
        ((1200.0, None, 1200.0, None, 1200.0), True),
    ],
)
def test_three_in_a_row(answers: tuple[float | None, ...], slow: bool) -> None:
    """A value around the limit turns nothing, a real change does, and silence says nothing about speed."""
    assert _after(*answers) is slow


def test_each_component_for_itself() -> None:
    """The slow one does not make another slow."""
    slowness = Slowness()
    for _ in range(3):
        slowness.see("auth", 2000.0)
    assert slowness.see("database", 2000.0) is False
