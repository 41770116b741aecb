"""Each rule of the verdict, in its order, with the words that name it."""

from __future__ import annotations

import pytest

from core.tuning.resample import Interval
from core.tuning.verdict import Tally, decide

GOOD = Interval(0.04, 0.02, 0.06)


@pytest.mark.parametrize(
    ("difference", "coverage", "queries", "dialogs", "word", "says"),
    [
        (GOOD, 0.95, 40, Tally(8, 2, 0), "ship", "above 0"),
        (GOOD, 0.79, 40, Tally(8, 2, 0), "coverage too low", "79%"),
        (GOOD, 0.95, 9, Tally(8, 2, 0), "no evidence", "9 queries have"),
        (None, 0.95, 0, Tally(), "no evidence", "0 queries have"),
        (Interval(-0.04, -0.06, -0.02), 0.95, 40, Tally(2, 8, 0), "worse", "below 0"),
        (Interval(0.02, -0.01, 0.05), 0.95, 40, Tally(8, 2, 0), "no evidence", "contains 0"),
        (Interval(0.014, 0.01, 0.02), 0.95, 40, Tally(8, 2, 0), "no evidence", "less than 1.5 points"),
        (GOOD, 0.95, 40, Tally(2, 2, 6), "no evidence", "a few dialogs"),
        (Interval(0.0, 0.0, 0.0), 0.95, 40, Tally(0, 0, 10), "no evidence", "contains 0"),
    ],
)
def test_rules(
    difference: Interval | None, coverage: float, queries: int, dialogs: Tally, word: str, says: str
) -> None:
    """The first rule that fits decides, and its figures stand in the words."""
    found = decide("recall@12", difference, coverage, queries, dialogs)
    assert found.word == word and says in found.rule


def test_worse_stays_worse_with_full_coverage_only() -> None:
    """With few labels nobody says worse either: the labels may be those of the baseline's own results."""
    assert decide("recall@12", Interval(-0.1, -0.2, -0.05), 0.5, 40, Tally(0, 9, 0)).word == "coverage too low"
