"""What answers change, and what they do not. Source: spec/companion.md, FB-2 and FB-3."""

from __future__ import annotations

import pytest

from core.companion.contract import At, Every, Rule
from core.companion.reflect.pulse.learning import Hours, action_rate, lesson, lowered


def rule(hour: int = 18, *, learnable: bool = True) -> Rule:
    return Rule("r", "R", "d", "m", At(((hour, 0),)), lambda _: None, learnable=learnable)


def test_a_rate_needs_five() -> None:
    """None below five outcomes (case 93)."""
    assert action_rate(4, 4) is None
    assert action_rate(1, 5) == 0.2


@pytest.mark.parametrize(
    ("hours", "moved"),
    [
        ({18: (0, 4)}, 0),
        ({18: (0, 5)}, 1),
        ({18: (1, 5)}, 0),
        ({18: (0, 5), 19: (0, 5)}, 2),
        ({18: (0, 5), 19: (0, 5), 20: (0, 5), 21: (0, 9)}, 3),
        ({18: (0, 5), 20: (0, 5)}, 1),
    ],
)
def test_an_hour_later(hours: Hours, moved: int) -> None:
    """Rarely acted on in five outcomes: one hour later, from there again, three at most."""
    assert lesson(rule(), hours).hour_shift == ({"18:00": moved} if moved else {})


def test_within_the_day() -> None:
    """Not beyond 21, not before 8."""
    assert lesson(rule(21), {21: (0, 9)}).hour_shift == {}
    assert lesson(rule(6), {6: (0, 9)}).hour_shift == {}
    assert lesson(rule(7), {7: (0, 9)}).hour_shift == {"07:00": 1}


def test_kept_and_demoted() -> None:
    """Acted on in 80 %: kept. In less than a tenth of ten: one priority lower."""
    assert lesson(rule(), {18: (4, 5)}).kept == ("18:00",)
    assert lesson(rule(), {18: (0, 5), 19: (0, 5)}).demoted
    assert not lesson(rule(), {18: (1, 10)}).demoted
    assert [lowered(p, demoted=True) for p in ("high", "medium", "low")] == ["medium", "low", "low"]
    assert lowered("high", demoted=False) == "high"


def test_safety_is_not_learned_away() -> None:
    """A rule that is not learnable stays where it is, whatever people do."""
    assert lesson(rule(learnable=False), {18: (0, 50)}) == lesson(rule(), {})


def test_an_interval_has_no_hour_to_move() -> None:
    """It can still become quieter."""
    found = lesson(Rule("r", "R", "d", "m", Every(90), lambda _: None), {18: (0, 20)})
    assert (found.hour_shift, found.demoted) == ({}, True)
