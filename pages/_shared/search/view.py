"""One search under one set of weights, computed once per move of a slider. Pure; every decision is core's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.memory.hits import Exploration, Hit
from core.memory.score import ChunkRow, Ranking, rank

NEAR = 12  # places shown below the prompt's limit


@dataclass(frozen=True, eq=False)
class View:
    """What the page shows: the ranking under the slider's weights beside the one under the active weights."""

    found: Exploration
    weights: Mapping[str, float]
    ranking: Ranking
    active: Ranking
    limit: int

    @property
    def changed(self) -> bool:
        """Does the set of chunks in the prompt differ from that of the active weights?"""
        return set(self.ranking.top(self.limit)) != set(self.active.top(self.limit))

    def row(self, chunk_id: str) -> ChunkRow | None:
        return self.found.candidates.rows.get(chunk_id)

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
            weighted_score=float(self.ranking.scores[index]),
            cosine=float(candidates.cosines[index]),
            boost=float(self.ranking.boosts[index]),
            rank=int(self.ranking.ranks[index]),
            note_date=row.note_date if row else None,
            sent_at=row.sent_at if row else None,
            direction=row.direction if row else None,
        )

    def hits(self, below: int = 0) -> list[Hit]:
        """The chunks of the prompt, best first, and `below` places more."""
        return [self.hit(int(i)) for i in self.ranking.order[: self.limit + below]]

    def before(self, chunk_id: str) -> int:
        """Its place under the active weights, from 1."""
        return int(self.active.ranks[self.found.candidates.positions[chunk_id]])


def view_of(found: Exploration, weights: Mapping[str, float]) -> View:
    candidates = found.candidates
    return View(found, weights, rank(candidates, weights), rank(candidates, found.active_weights), found.request.limit)
