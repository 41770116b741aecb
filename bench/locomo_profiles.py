"""Profiles and recipes on LoCoMo, in memory: the product's chunks, ranked by the function that its searches use.

Strict recall@12: a turn covers itself, a note the turns it was made from, a summary nothing. Answer words: the share of
the gold answer's words that the texts in the prompt hold (single-hop and multi-hop), which credits all sources alike.
Intervals are paired, over questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench.locomo_pool import Pool, Question, Vectors, build, read
from core.embedding.lexical import lexical_terms
from core.memory.bm25 import Bm25Index
from core.memory.fusion import rank_profile
from core.memory.retrieval import SEED, Profile
from core.memory.score import Candidates, ChunkRow
from core.tuning.resample import interval

GRID = tuple(round(-0.3 + 0.02 * step, 2) for step in range(36))  # note boosts, raw
ZERO = Profile("zero")
FUSION = Profile("fusion 0.35", fusion=0.35)
ALONE = Profile("summaries in, none taken", fusion=0.35, quotas={"summary": 0})
SUMMARIES = Profile("zero, with summaries")
# What must hold: name, the profile and what it is compared with (None: as it stands), and the least difference.
BUDGETS: tuple[tuple[str, str | None, float], ...] = (
    ("fusion 0.35 / plain", "zero / plain", 0.06),
    ("fusion 0.35 / plain", "seed / plain", 0.08),
    ("zero / speaker", None, 0.645),
    ("fusion 0.35 / speaker", None, 0.70),
)
_STOP = """a an and are as at be been by did do does for from had has have he her his i in is it its my of on or she
that the their them they this to was were will with would you your not no so if but"""
STOP = frozenset(_STOP.split())


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of one profile: recall and answer words by question (NaN where the latter are not asked), and mean slots."""

    recall: np.ndarray
    words: np.ndarray
    slots: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Asked:
    """One question with its candidates under one recipe, without and with summaries."""

    question: Question
    candidates: Candidates
    lexical: np.ndarray
    covers: Mapping[str, frozenset[str]]

    def without(self, source: str) -> Asked:
        keep = ~self.candidates.mask(source)
        c = self.candidates
        kept = [i for i in range(len(c)) if keep[i]]
        fewer = Candidates.of([c.ids[i] for i in kept], [c.source(i) for i in kept], c.cosines[keep], c.rows)
        return replace(self, candidates=fewer, lexical=self.lexical[keep])


def measure(folder: Path, cache: Path | None) -> None:
    """Embed (or take from the cache), rank, print. Some 9,500 texts at 20 a second."""
    payloads, questions = read(folder)
    vectors = Vectors(cache)
    try:
        asked: dict[str, list[Asked]] = {}
        for payload in payloads:
            mine = [q for q in questions if q.dialog == payload["dialog"]]
            embedded = vectors.queries([q.text for q in mine])
            for recipe, part in _asked(build(payload, vectors), mine, embedded).items():
                asked.setdefault(recipe, []).extend(part)
    finally:
        vectors.close()
    report(asked)


def report(asked: Mapping[str, Sequence[Asked]]) -> None:
    found: dict[str, Outcome] = {}
    for recipe, whole in asked.items():
        few = [a.without("summary") for a in whole]
        for profile in (replace(SEED, version=None), ZERO, FUSION):
            found[f"{profile.name} / {recipe}"] = outcome(few, [profile] * len(few))
        best = held_out(few)
        found[f"best note boost, held out / {recipe}"] = outcome(few, best)
        print(f"best note boost / {recipe}: {', '.join(sorted({format(p.weights['note'], '+.2f') for p in best}))}")
        found[f"zero, with summaries / {recipe}"] = outcome(whole, [SUMMARIES] * len(whole))
        found[f"fusion 0.35, summaries quota 0 / {recipe}"] = outcome(whole, [ALONE] * len(whole))
    base = found["zero / plain"]
    for name, each in found.items():
        low, high = _bounds(each.recall - base.recall)
        slots = ", ".join(f"{source} {n:.1f}" for source, n in each.slots.items() if n >= 0.05)
        gain = f"{each.recall.mean() - base.recall.mean():+.3f} against zero / plain, 95% {low:+.3f} to {high:+.3f}"
        words = f"answer words {np.nanmean(each.words):.3f}"
        print(f"{name}: recall@12 {each.recall.mean():.3f} ({gain}), {words}; slots {slots}", flush=True)
    for name, other, least in BUDGETS:
        if name in found:
            _check(name, other, least, found)


def outcome(asked: Sequence[Asked], profiles: Sequence[Profile]) -> Outcome:
    """Every question under its profile."""
    recall, words, slots = np.zeros(len(asked)), np.full(len(asked), np.nan), dict[str, float]()
    for place, (a, profile) in enumerate(zip(asked, profiles, strict=True)):
        ranking = rank_profile(a.candidates, a.lexical, profile)
        taken = ranking.taken_ids()
        covered = frozenset().union(*(a.covers[i] for i in taken))
        recall[place] = len(covered & a.question.relevant) / len(a.question.relevant)
        if a.question.category in ("single-hop", "multi-hop"):
            wanted = set(lexical_terms(a.question.answer)) - STOP
            held = {term for i in taken for term in lexical_terms(a.candidates.rows[i].text)}
            words[place] = len(wanted & held) / len(wanted) if wanted else np.nan
        for source, n in ranking.slots().items():
            slots[source] = slots.get(source, 0.0) + n / len(asked)
    return Outcome(recall, words, slots)


def held_out(asked: Sequence[Asked]) -> list[Profile]:
    """For each question the note boost that is best on the other conversations."""
    profiles = [Profile(f"note {boost:+.2f}", weights={"note": boost}) for boost in GRID]
    recalls = np.stack([outcome(asked, [p] * len(asked)).recall for p in profiles])
    dialogs = np.array([a.question.dialog for a in asked])
    best = {d: profiles[int(recalls[:, dialogs != d].mean(axis=1).argmax())] for d in set(dialogs)}
    return [best[d] for d in dialogs]


def _check(name: str, other: str | None, least: float, found: Mapping[str, Outcome]) -> None:
    mine = found[name].recall
    value = mine.mean() - (found[other].recall.mean() if other else 0.0)
    low, high = _bounds(mine - (found[other].recall if other else 0.0))
    verdict = "met" if value >= least else "NOT MET"
    what = f"{name} against {other}" if other else name
    print(f"{what}: {value:+.3f} (95% {low:+.3f} to {high:+.3f}; at least {least:+.3f}): {verdict}")


def _bounds(differences: np.ndarray) -> tuple[float, float]:
    found = interval(differences)
    return (found.low, found.high) if found else (np.nan, np.nan)


def _asked(pool: Pool, questions: Sequence[Question], vectors: np.ndarray) -> dict[str, list[Asked]]:
    rows = {i: ChunkRow(i, c.source, c.source_id, c.text) for i, c in zip(pool.ids, pool.chunks, strict=True)}
    sources = [c.source for c in pool.chunks]
    covers = {i: covered_by(c.source, c.source_id) for i, c in zip(pool.ids, pool.chunks, strict=True)}
    index = Bm25Index.of(pool.ids, [c.text for c in pool.chunks])
    words = [index.scores(q.text) for q in questions]
    return {
        recipe: [
            Asked(q, Candidates.of(pool.ids, sources, own @ v.astype(np.float64), rows), w, covers)
            for q, v, w in zip(questions, vectors, words, strict=True)
        ]
        for recipe, own in ((name, rows_.astype(np.float64)) for name, rows_ in pool.vectors.items())
    }


def covered_by(source: str, source_id: str | None) -> frozenset[str]:
    """The turns that a chunk covers. A note's id ends in them: `obs:<session>:<RU|TU>:<k>:<turns joined by +>`."""
    if source == "conversation":
        return frozenset({source_id or ""})
    return frozenset((source_id or "").split(":", 4)[4].split("+")) if source == "note" else frozenset()
