"""What an evaluation comes to, in words, with the rule that decided. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.tuning.resample import Interval

Word = Literal["ship", "no evidence", "worse", "coverage too low"]
COVERAGE_LEAST = 0.8
POINTS_LEAST = 1.5
QUERIES_LEAST = 10


@dataclass(frozen=True)
class Verdict:
    """`rule` says which rule gave the word, with the figures that it looked at."""

    word: Word
    rule: str


@dataclass(frozen=True)
class Tally:
    """How often the profile beats the baseline, loses to it, or is level."""

    wins: int = 0
    losses: int = 0
    ties: int = 0

    @property
    def of(self) -> int:
        return self.wins + self.losses + self.ties


def decide(metric: str, difference: Interval | None, coverage: float, queries: int, dialogs: Tally) -> Verdict:
    """The rules in their order; the first that fits decides. `coverage` is the lower one of the two profiles.

    1. coverage below 80 %: coverage too low.  2. fewer than 10 queries with a relevant chunk: no evidence.
    3. the interval lies below 0: worse.  4. it contains 0: no evidence.  5. less than 1.5 points: no evidence.
    6. not better in more dialogs than worse: no evidence.  7. ship.
    """
    if coverage < COVERAGE_LEAST:
        return Verdict(
            "coverage too low",
            f"{coverage:.0%} of the top places are judged, at least {COVERAGE_LEAST:.0%} are needed: what nobody "
            "judged counts as not relevant, which favours the profile the labels were made with.",
        )
    if queries < QUERIES_LEAST or difference is None:
        return Verdict(
            "no evidence",
            f"{queries} {'query has' if queries == 1 else 'queries have'} a relevant chunk, at least {QUERIES_LEAST} "
            "are needed.",
        )
    span = (
        f"{metric}: {100 * difference.mean:+.1f} points, 95 % interval "
        f"{100 * difference.low:+.1f} to {100 * difference.high:+.1f}"
    )
    signs = f"{dialogs.wins} dialogs better, {dialogs.losses} worse, {dialogs.ties} level"
    if difference.high < 0:
        return Verdict("worse", f"{span}: the interval lies below 0 ({signs}).")
    if not difference.excludes_zero:
        return Verdict("no evidence", f"{span}: the interval contains 0 ({signs}).")
    if 100 * difference.mean < POINTS_LEAST:
        return Verdict("no evidence", f"{span}: less than {POINTS_LEAST} points is not worth a change ({signs}).")
    if dialogs.wins <= dialogs.losses:
        return Verdict("no evidence", f"{span}, but {signs}: the gain comes from a few dialogs.")
    return Verdict(
        "ship",
        f"{span}: above 0, at least {POINTS_LEAST} points, {signs}, {coverage:.0%} of the top places judged.",
    )
