"""What other weights would do to one query, without the database. Pure numpy over `Candidates`; a hot path.

Boosts add, so the value at which a chunk enters or leaves the top k is a difference of two numbers: no search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.memory.score import Candidates, Ranking, rank
from core.memory.sources import SOURCES


@dataclass(frozen=True)
class CutLine:
    """Where the prompt ends: the score of the last chunk inside and of the first outside, None where there is none."""

    k: int
    last_in: float | None
    first_out: float | None

    @property
    def gap(self) -> float | None:
        return None if self.last_in is None or self.first_out is None else self.last_in - self.first_out


@dataclass(frozen=True)
class NearMiss:
    """A chunk just below the cut line; `short_by` is the score it lacks to draw level with the last one inside."""

    id: str
    source: str
    rank: int
    score: float
    short_by: float


@dataclass(frozen=True)
class Flip:
    """At this boost, going up, `enters` takes the place of `leaves` in the top k; going down, the reverse.

    `delta` is the distance from the present boost, signed. At exactly this boost the scores are equal: the id decides.
    """

    boost: float
    delta: float
    enters: str
    leaves: str


@dataclass(frozen=True)
class FlipPoints:
    """Every flip of one source, all other boosts held, by rising boost; `passed` of them lie behind the present one."""

    source: str
    boost: float
    k: int
    flips: tuple[Flip, ...]
    passed: int

    @property
    def up(self) -> tuple[Flip, ...]:
        """Flips that raising the boost meets, nearest first."""
        return self.flips[self.passed :]

    @property
    def down(self) -> tuple[Flip, ...]:
        """Flips that lowering the boost meets, nearest first."""
        return self.flips[: self.passed][::-1]

    def changes(self, boost: float) -> int:
        """How many chunks of the top k differ if the boost became this one."""
        inside = sum(flip.boost < boost for flip in self.flips)
        return abs(inside - self.passed)


@dataclass(frozen=True)
class RankChange:
    """A chunk in the top k of either ranking; ranks count from 1, `moved` is positive for a rise."""

    id: str
    source: str
    before: int
    after: int
    entered: bool
    left: bool

    @property
    def moved(self) -> int:
        return self.before - self.after


def cut_line(ranking: Ranking, k: int) -> CutLine:
    """The scores on both sides of place k."""
    scores = ranking.scores[ranking.order]
    return CutLine(
        k,
        float(scores[min(k, len(scores)) - 1]) if len(scores) and k > 0 else None,
        float(scores[k]) if len(scores) > k >= 0 else None,
    )


def near_misses(ranking: Ranking, k: int, count: int = 5) -> tuple[NearMiss, ...]:
    """The `count` best chunks below the cut line, best first."""
    line = cut_line(ranking, k).last_in
    candidates = ranking.candidates
    return tuple(
        NearMiss(
            id=candidates.ids[i],
            source=candidates.source(i),
            rank=k + place,
            score=float(ranking.scores[i]),
            short_by=(line if line is not None else 0.0) - float(ranking.scores[i]),
        )
        for place, i in enumerate(ranking.order[k : k + count], start=1)
    )


def slots(ranking: Ranking, k: int) -> dict[str, int]:
    """How many of the top k each source takes; every source is named, zeros too."""
    taken = Counter(ranking.candidates.source(i) for i in ranking.order[:k])
    return {source: taken.pop(source, 0) for source in SOURCES} | dict(taken)


def boost_in_sd(candidates: Candidates, weights: Mapping[str, float]) -> dict[str, float | None]:
    """Each boost in standard deviations (of the population) of this query's cosines; None where they do not spread."""
    spread = float(np.std(candidates.cosines)) if len(candidates) else 0.0
    # Equal cosines give a deviation of rounding size, and a boost of 10^15 of those says nothing.
    flat = spread < 1e-12
    return {source: None if flat else float(weights.get(source, 0.0)) / spread for source in SOURCES}


def flip_points(candidates: Candidates, weights: Mapping[str, float], source: str, k: int) -> FlipPoints:
    """The boosts of `source` at which the top k changes, in closed form, O(n log n).

    The m-th best chunk of the source is inside exactly if it beats the (k - m + 1)-th best of all others; so there is
    one flip for each m from 1 to k for which both exist, and they come in rising order.
    """
    ranking = rank(candidates, weights)
    own, others = _apart(ranking, source)
    boost = float(weights.get(source, 0.0))
    flips = tuple(
        Flip(at, at - boost, candidates.ids[mine], candidates.ids[theirs])
        for mine, theirs, at in _duels(ranking, own, others, k)
    )
    inside = int(candidates.mask(source)[ranking.order[:k]].sum())
    # Chunks of the source that are inside whatever its boost, because the others alone do not fill the top k.
    always = max(0, min(len(own), k - len(others)))
    return FlipPoints(source, boost, k, flips, passed=inside - always)


def rank_changes(
    candidates: Candidates, before: Mapping[str, float], after: Mapping[str, float], k: int
) -> tuple[RankChange, ...]:
    """Chunks of either top k whose place differs, by their new rank."""
    old, new = rank(candidates, before), rank(candidates, after)
    changes = []
    for i in sorted({*old.order[:k].tolist(), *new.order[:k].tolist()}, key=lambda i: new.ranks[i]):
        was, now = int(old.ranks[i]), int(new.ranks[i])
        if was != now:
            changes.append(
                RankChange(candidates.ids[i], candidates.source(i), was, now, was > k >= now, now > k >= was)
            )
    return tuple(changes)


def needed_boost(ranking: Ranking, index: int, k: int) -> float | None:
    """The boost of its source at which a candidate draws level with the last place, all other boosts held.

    None where no boost suffices: k chunks of its own source are ahead of it. Minus infinity where none is needed.
    """
    own, others = _apart(ranking, ranking.candidates.source(index))
    place = int(np.flatnonzero(own == index)[0]) + 1
    rival = k - place + 1
    if rival < 1:
        return None
    if rival > len(others):
        return float("-inf")
    return float(ranking.scores[others[rival - 1]] - ranking.candidates.cosines[index])


def _apart(ranking: Ranking, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the source's candidates and of all others, each best first."""
    mask = ranking.candidates.mask(source)[ranking.order]
    return ranking.order[mask], ranking.order[~mask]


def _duels(ranking: Ranking, own: np.ndarray, others: np.ndarray, k: int) -> Iterator[tuple[int, int, float]]:
    for place in range(1, min(k, len(own)) + 1):
        rival = k - place + 1
        if rival <= len(others):
            mine, theirs = int(own[place - 1]), int(others[rival - 1])
            yield mine, theirs, float(ranking.scores[theirs] - ranking.candidates.cosines[mine])
