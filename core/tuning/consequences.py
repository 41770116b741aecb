"""What another profile would do to prompts that were really asked for. Pure numpy over the candidates of each search.

For one boost the answer is a closed form: each search has a nearest boost above and below at which its prompt's set
changes (`whatif.flip_points`), so "+0.03 on note changes 41 of 200" is counting, for any distance at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.memory.fusion import Fused, field_of, rank_profile
from core.memory.retrieval import Profile
from core.memory.score import Candidates, Ranking, rank
from core.memory.sources import SOURCES


@dataclass(frozen=True, eq=False)
class Case:
    """One recorded search as it would be compared today; `bm25` float64 (n,) or None, `lengths` characters by id."""

    id: str
    at: str
    dialog_key: str
    candidates: Candidates
    bm25: np.ndarray | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)
    limit: int = 12

    def rank(self, profile: Profile) -> Fused:
        """Under a profile, with the limit that the search asked for."""
        return rank_profile(self.candidates, self.bm25, replace(profile, limit=self.limit), self.lengths)


@dataclass(frozen=True)
class Change:
    """A prompt that would differ: how many chunks enter it, and leave it (fewer or more where a budget says so)."""

    id: str
    at: str
    dialog_key: str
    entered: int
    left: int


@dataclass(frozen=True)
class Effect:
    """Of `cases` prompts; `slots_*` are mean places a prompt by source."""

    cases: int
    changes: tuple[Change, ...]
    slots_before: Mapping[str, float]
    slots_after: Mapping[str, float]

    @property
    def changed(self) -> int:
        return len(self.changes)

    @property
    def exchanged(self) -> int:
        return sum(change.entered for change in self.changes)


@dataclass(frozen=True, eq=False)
class Distances:
    """For one source: how far its boost must move, up and down, for each prompt to change; sorted, in the profile's
    unit, positive, only of prompts that a move changes at all."""

    source: str
    cases: int
    up: np.ndarray
    down: np.ndarray

    def changed(self, delta: float) -> int:
        """How many prompts differ after a move by `delta`."""
        side = self.up if delta > 0 else self.down
        return int(np.searchsorted(side, abs(delta), side="left"))

    @property
    def first_up(self) -> float | None:
        return float(self.up[0]) if len(self.up) else None

    @property
    def first_down(self) -> float | None:
        return float(self.down[0]) if len(self.down) else None


def effect(cases: Sequence[Case], before: Profile, after: Profile) -> Effect:
    """Every case under both profiles."""
    changes, was, now = [], dict[str, float](), dict[str, float]()
    for case in cases:
        old, new = case.rank(before), case.rank(after)
        for slots, ranking in ((was, old), (now, new)):
            for source, n in ranking.slots().items():
                slots[source] = slots.get(source, 0.0) + n / len(cases)
        mine, theirs = set(new.taken_ids()), set(old.taken_ids())
        if mine != theirs:
            changes.append(Change(case.id, case.at, case.dialog_key, len(mine - theirs), len(theirs - mine)))
    return Effect(len(cases), tuple(changes), was, now)


def distances(cases: Sequence[Case], profile: Profile, sources: Sequence[str] = SOURCES) -> dict[str, Distances]:
    """For each source the nearest flip of each case on both sides, all else held; as `whatif.flip_points`, without its
    names. A budget has no closed form and is left out.
    """
    up: dict[str, list[float]] = {source: [] for source in sources}
    down: dict[str, list[float]] = {source: [] for source in sources}
    for case in cases:
        arena = field_of(case.candidates, case.bm25, replace(profile, limit=case.limit))
        ranking = rank(arena.candidates, arena.weights)
        scale = arena.sd if profile.unit == "sd" else 1.0
        for source in sources:
            flips, passed = _flips(ranking, source, case.limit)
            now = arena.weights.get(source, 0.0)
            up[source] += [(flips[passed] - now) / scale] if passed < len(flips) else []
            down[source] += [(now - flips[passed - 1]) / scale] if passed else []
    return {s: Distances(s, len(cases), np.sort(np.array(up[s])), np.sort(np.array(down[s]))) for s in sources}


def _flips(ranking: Ranking, source: str, k: int) -> tuple[np.ndarray, int]:
    """The boosts at which the top k changes, rising, and how many of them lie behind the present one."""
    mask = ranking.candidates.mask(source)[ranking.order]
    own, others = ranking.order[mask], ranking.order[~mask]
    first = max(1, k + 1 - len(others))  # before it, chunks are inside whatever their boost
    last = min(k, len(own))
    if last < first:
        return np.zeros(0), 0
    mine = ranking.candidates.cosines[own[first - 1 : last]]
    rivals = ranking.scores[others[k - np.arange(first, last + 1)]]
    return rivals - mine, int(mask[:k].sum()) - (first - 1)
