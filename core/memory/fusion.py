"""How a profile ranks the chunks of one query, and which of them it takes. Pure numpy; a slider moves on this.

For every candidate, with SD the standard deviation of this query's cosines over all candidates:

    raw, no fusion    score = cosine + boost                        exactly the RPC: same doubles, ties by id
    otherwise         score = cosine + SD * fusion * z(bm25) + boost

which orders as `z(cosine) + fusion * z(bm25) + boost in SD` does: it is that sum times SD plus the mean, so that scores
stay on the cosine's scale, and cosine + lexical + boost = score holds in every mode (`in_sd` gives the other scale).
A boost in unit sd counts SD cosines (`boost * SD`); a raw one is added as it is (it is `boost / SD` deviations).
z(bm25) is over the same candidates, all of them, whatever the quotas. Where cosines do not spread, SD counts as 1.

Taken, best first: a chunk whose source has a slot left, and whose text still fits the budget; one that does not is
passed over, and a later one may take its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.memory.bm25 import spread, z_scores
from core.memory.retrieval import Profile
from core.memory.score import Candidates, Ranking, boosts_of


@dataclass(frozen=True, eq=False)
class Fused(Ranking):
    """A ranking of all candidates (see `Ranking`) with its lexical part, and the indices that are `taken`, best first.

    `lexical` float64 (n,), on the cosine's scale: `cosines + lexical + boosts = scores`. `sd` is the scale.
    """

    lexical: np.ndarray
    taken: np.ndarray
    sd: float

    def taken_ids(self) -> tuple[str, ...]:
        """Ids of what reaches the prompt, best first."""
        return tuple(self.candidates.ids[i] for i in self.taken)

    def slots(self) -> dict[str, int]:
        """How many of the taken each source has."""
        return dict(Counter(self.candidates.source(i) for i in self.taken))

    def in_sd(self) -> np.ndarray:
        """The scores as z(cosine) + fusion * z(bm25) + boost in SD, float64 (n,)."""
        cosines = self.candidates.cosines
        return (self.scores - cosines.mean()) / self.sd if len(cosines) else self.scores


def rank_profile(
    candidates: Candidates,
    lexical: np.ndarray | None,
    profile: Profile,
    lengths: Mapping[str, int] | None = None,
) -> Fused:
    """Rank all candidates, then take by limit, quotas and budget.

    `lexical`: BM25 of each candidate, float (n,), in the candidates' order, z-scored here; None counts as no fusion.
    `lengths`: characters by id, for the budget; absent, the texts in `candidates.rows` are counted. A chunk of unknown
    length does not fit a budget.
    """
    scale = spread(candidates.cosines) or 1.0
    boosts = boosts_of(candidates, profile.weights)
    if profile.unit == "sd":
        boosts = boosts * scale
    if profile.fusion and lexical is not None:
        part = scale * profile.fusion * z_scores(lexical)
        scores = candidates.cosines + part + boosts
    else:
        part = np.zeros(len(candidates))
        scores = candidates.cosines + boosts
    order = np.lexsort((candidates.id_ranks, -scores))
    taken = take(candidates, order, profile, lengths)
    return Fused(candidates, order, scores, boosts, part, taken, scale)


@dataclass(frozen=True, eq=False)
class Field:
    """A ranking as plain `cosine + boost`, for the closed forms of `whatif`: `candidates` carry cosine + lexical in
    place of the cosine, without those that a quota keeps out whatever the boosts; `weights` are raw.

    What the top `limit` of it is, the profile takes, unless it has a budget: a budget has no closed form.
    """

    candidates: Candidates
    weights: dict[str, float]
    sd: float


def field_of(candidates: Candidates, lexical: np.ndarray | None, profile: Profile) -> Field:
    """The order within a source does not depend on boosts, so a quota of q keeps its best q and no others."""
    free = rank_profile(candidates, lexical, replace(profile, quotas={}, budget_chars=None))
    left = dict(profile.quotas)
    keep = np.ones(len(candidates), dtype=bool)
    for index in free.order if left else ():
        source = candidates.source(int(index))
        if source in left:
            keep[index] = left[source] > 0
            left[source] -= 1
    scale = free.sd if profile.unit == "sd" else 1.0
    weights = {source: boost * scale for source, boost in profile.weights.items()}
    base = candidates.cosines + free.lexical if free.lexical.any() else candidates.cosines
    kept = np.flatnonzero(keep)
    ids = tuple(candidates.ids[i] for i in kept)
    return Field(Candidates(ids, candidates.codes[kept], base[kept], candidates.rows), weights, free.sd)


def take(
    candidates: Candidates, order: np.ndarray, profile: Profile, lengths: Mapping[str, int] | None = None
) -> np.ndarray:
    """The indices that limit, quotas and budget let through, in that order."""
    if not profile.quotas and profile.budget_chars is None:
        return order[: profile.limit]
    left = {source: profile.quotas.get(source, profile.limit) for source in ("unknown", *profile.quotas)}
    budget = profile.budget_chars
    taken: list[int] = []
    for index in order:
        if len(taken) == profile.limit:
            break
        source = candidates.source(int(index))
        if left.get(source, 1) < 1:
            continue
        if budget is not None:
            size = _length(candidates, candidates.ids[index], lengths)
            if size is None or size > budget:
                continue
            budget -= size
        if source in left:
            left[source] -= 1
        taken.append(int(index))
    return np.array(taken, dtype=np.int64)


def _length(candidates: Candidates, chunk_id: str, lengths: Mapping[str, int] | None) -> int | None:
    if lengths is not None:
        return lengths.get(chunk_id)
    row = candidates.rows.get(chunk_id)
    return None if row is None else len(row.text)
