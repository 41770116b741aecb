"""One search under one profile, computed once per move of a slider. Pure; every decision is core's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from core.memory.fusion import Field, Fused, field_of, rank_profile
from core.memory.hits import Exploration, Hit
from core.memory.retrieval import Profile
from core.memory.score import ChunkRow, Ranking
from core.memory.whatif import CutLine

NEAR = 12  # places shown below the prompt's limit


@dataclass(frozen=True, eq=False)
class View:
    """What the page shows: the profile of the sliders beside the active one.

    `ranking` and `active` order what a profile takes first, then all others by score; `limit` places are taken.
    """

    found: Exploration
    profile: Profile
    fused: Fused
    ranking: Ranking
    active: Ranking
    limit: int
    active_limit: int
    shown: Callable[[str], str] = str

    @property
    def weights(self) -> Mapping[str, float]:
        """The boosts of the sliders, in the profile's unit."""
        return self.profile.weights

    @property
    def changed(self) -> bool:
        """Does the set of chunks in the prompt differ from that of the active profile?"""
        return set(self.ranking.top(self.limit)) != set(self.active.top(self.active_limit))

    @cached_property
    def field(self) -> Field:
        """The competition as cosine + boost, for the closed forms; a budget is not in it."""
        return field_of(self.found.candidates, self.found.bm25, self.profile)

    @cached_property
    def line(self) -> CutLine:
        """Scores on both sides of the limit; chunks that a quota keeps out stand on neither."""
        order, scores = self.ranking.order, self.fused.scores
        rivals = [i for i in order[self.limit :] if not self.kept_out(self.found.candidates.ids[int(i)])]
        return CutLine(
            self.limit,
            float(scores[order[: self.limit]].min()) if self.limit and len(order) else None,
            float(scores[rivals].max()) if rivals else None,
        )

    def kept_out(self, chunk_id: str) -> bool:
        """Does the quota of its source leave it no place, whatever the boosts?"""
        return chunk_id not in self.field.candidates.positions

    def row(self, chunk_id: str) -> ChunkRow | None:
        """What is shown of a chunk, its text as this view may show it; None where it was not fetched."""
        row = self.found.candidates.rows.get(chunk_id)
        return replace(row, text=self.shown(row.text)) if row else None

    def hit(self, index: int) -> Hit:
        """The candidate at an index of the arrays; without its text where that was not fetched."""
        candidates = self.found.candidates
        chunk_id = candidates.ids[index]
        row = self.row(chunk_id)
        return Hit(
            id=chunk_id,
            source=candidates.source(index),
            source_id=row.source_id if row else None,
            text=row.text if row else "",
            weighted_score=float(self.fused.scores[index]),
            cosine=float(candidates.cosines[index]),
            boost=float(self.fused.boosts[index]),
            lexical=float(self.fused.lexical[index]),
            rank=int(self.ranking.ranks[index]),
            note_date=row.note_date if row else None,
            sent_at=row.sent_at if row else None,
            direction=row.direction if row else None,
        )

    def hits(self, below: int = 0) -> list[Hit]:
        """The chunks of the prompt, best first, and `below` places more."""
        return [self.hit(int(i)) for i in self.ranking.order[: self.limit + below]]

    def before(self, chunk_id: str) -> int:
        """Its place under the active profile, from 1."""
        return int(self.active.ranks[self.found.candidates.positions[chunk_id]])


def view_of(found: Exploration, profile: Profile, shown: Callable[[str], str] = str) -> View:
    """The exploration under a profile, whose limit is that of the search; `shown` masks what may not be seen."""
    limit = found.request.limit
    now = rank_profile(found.candidates, found.bm25, replace(profile, limit=limit))
    then = rank_profile(found.candidates, found.bm25, replace(active_of(found), limit=limit))
    return View(
        found,
        replace(profile, limit=limit),
        now,
        _taken_first(now),
        _taken_first(then),
        _places(now, profile, limit),
        _places(then, active_of(found), limit),
        shown,
    )


def active_of(found: Exploration) -> Profile:
    """The profile in force when it was searched."""
    return found.active or Profile("active", found.weights_version, found.active_weights)


def _places(fused: Fused, profile: Profile, limit: int) -> int:
    return len(fused.taken) if profile.quotas or profile.budget_chars is not None else limit


def _taken_first(fused: Fused) -> Ranking:
    rest = fused.order[~np.isin(fused.order, fused.taken)]
    order = np.concatenate([fused.taken, rest]).astype(np.int64)
    return Ranking(fused.candidates, order, fused.scores, fused.boosts)
