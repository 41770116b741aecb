"""Why a chunk is in the prompt or not: its parts, what it lacks, or the filter that kept it out of the comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.memory.score import Candidates, Ranking, rank
from core.memory.whatif import cut_line, needed_boost

Reason = Literal["in", "below_cut", "behind_own_source", "not_compared"]


@dataclass(frozen=True)
class Explanation:
    """A chunk's place in one query. Numbers are None where it was not compared at all.

    `margin` is its score minus the last score inside (or, where it is inside, minus the first score outside), so it is
    positive inside and negative outside; `needed_boost` is the boost of its source at which it would draw level with
    the last place: None where no boost suffices (`behind_own_source`), or none is needed.
    """

    id: str
    reason: Reason
    source: str | None = None
    rank: int | None = None
    cosine: float | None = None
    boost: float | None = None
    score: float | None = None
    margin: float | None = None
    needed_boost: float | None = None


def why_not(candidates: Candidates, weights: Mapping[str, float], k: int, chunk_id: str) -> Explanation:
    """Explain one chunk under one set of weights. One that is no candidate gives `not_compared`: see `excluded_by`."""
    index = candidates.positions.get(chunk_id)
    if index is None:
        return Explanation(chunk_id, "not_compared")
    ranking = rank(candidates, weights)
    place = int(ranking.ranks[index])
    needed = needed_boost(ranking, index, k)
    reason: Reason = "in" if place <= k else "behind_own_source" if needed is None else "below_cut"
    return Explanation(
        id=chunk_id,
        reason=reason,
        source=candidates.source(index),
        rank=place,
        cosine=float(candidates.cosines[index]),
        boost=float(ranking.boosts[index]),
        score=float(ranking.scores[index]),
        margin=_margin(ranking, index, place, k),
        needed_boost=needed if needed is not None and math.isfinite(needed) else None,
    )


def excluded_by(
    row: Mapping[str, Any], *, dialog_key: str, model: str, client_id: str | None = None, compose_mode: str = "both"
) -> tuple[str, ...]:
    """The filters that keep a stored row out: some of `dialog_key`, `embedding_model`, `client_id`, `compose_mode`.

    A search for `both` reads as one for `reply`. Source: spec/memory.md section 5.
    """
    mode = "reply" if compose_mode == "both" else compose_mode
    tests = {
        "dialog_key": row.get("dialog_key") != dialog_key,
        "embedding_model": row.get("embedding_model") != model,
        "client_id": client_id is not None and row.get("client_id") not in (None, client_id),
        "compose_mode": row.get("compose_mode") not in ("both", mode),
    }
    return tuple(name for name, excluded in tests.items() if excluded)


def _margin(ranking: Ranking, index: int, place: int, k: int) -> float | None:
    line = cut_line(ranking, k)
    other = line.first_out if place <= k else line.last_in
    return None if other is None else float(ranking.scores[index]) - other
