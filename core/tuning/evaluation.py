"""Profiles side by side on labelled queries: metrics with coverage and interval, wins and losses, slots. Pure numpy."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.memory.retrieval import Profile
from core.tuning.judged import Judged
from core.tuning.metrics import METRICS, UNJUDGED, mean, measure
from core.tuning.resample import RESAMPLES, SEED, Interval, interval
from core.tuning.verdict import Tally, Verdict, decide

LEVEL_WITHIN = 1e-12
BEYOND = -2  # a place after the end of a list
NO_CATEGORY = "without a category"
LABELS: Mapping[str, str] = {"recall": "recall", "ndcg": "nDCG", "mrr": "MRR", "precision": "precision"}


@dataclass(frozen=True, eq=False)
class Measured:
    """One profile on q queries: each metric float64 (q,), NaN for a query without a relevant chunk.

    `slots`: the mean places that a source takes in the top k.
    """

    profile: Profile
    values: Mapping[str, np.ndarray]
    slots: Mapping[str, float]

    def mean(self, metric: str) -> float | None:
        return mean(self.values[metric])

    @property
    def coverage(self) -> float:
        """Judged share of the top k: the mean over the queries that the other figures are of."""
        counted = np.isfinite(self.values["recall"])
        shares = self.values["coverage"]
        return mean(shares[counted] if counted.any() else shares) or 0.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """A profile against a baseline; `differences` per metric, None where no query has a value. `left_out`: queries
    without a relevant chunk, which have no value in either."""

    baseline: Measured
    profile: Measured
    metric: str
    k: int
    differences: Mapping[str, Interval | None]
    queries: Tally
    dialogs: Tally
    left_out: int
    verdict: Verdict


def measured(pool: Sequence[Judged], profile: Profile, k: int) -> Measured:
    """A profile's lists over all queries, as its own limit, quotas and budget let them through, measured at k."""
    values: dict[str, list[float]] = defaultdict(list)
    slots: Counter[str] = Counter()
    for one in pool:
        taken = one.rank(profile).taken[:k]
        row = np.full((1, k), BEYOND, dtype=np.int8)
        row[0, : len(taken)] = one.grades[taken]
        slots.update(one.candidates.source(int(i)) for i in taken)
        for name, value in measure(row, one.known, k).items():
            values[name].append(float(value[0]))
    count = max(len(pool), 1)
    return Measured(
        profile,
        {name: np.array(values.get(name, ()), dtype=np.float64) for name in (*METRICS, "coverage")},
        {source: number / count for source, number in slots.items()},
    )


def compare(pool: Sequence[Judged], baseline: Measured, profile: Measured, metric: str, k: int) -> Comparison:
    """The profile minus the baseline, query by query, and what that comes to."""
    differences = {name: interval(_known(profile.values[name] - baseline.values[name])) for name in METRICS}
    by_query = profile.values[metric] - baseline.values[metric]
    dialogs = by_group(pool, by_query, lambda one: one.query.dialog_key)
    coverage = min(baseline.coverage, profile.coverage)
    known = _known(by_query)
    per_dialog = tally([float(np.mean(group)) for group in dialogs.values()])
    return Comparison(
        baseline,
        profile,
        metric,
        k,
        differences,
        tally(known),
        per_dialog,
        int(len(pool) - len(known)),
        decide(f"{LABELS[metric]}@{k}", differences[metric], coverage, len(known), per_dialog),
    )


def tally(differences: Iterable[float]) -> Tally:
    """Wins, losses and ties among differences."""
    signs = [0 if abs(d) <= LEVEL_WITHIN else (1 if d > 0 else -1) for d in differences]
    return Tally(signs.count(1), signs.count(-1), signs.count(0))


def by_group(pool: Sequence[Judged], values: np.ndarray, key: Callable[[Judged], str]) -> dict[str, np.ndarray]:
    """The values of each group of queries, those without a value left out; groups without any are left out too."""
    groups: dict[str, list[float]] = defaultdict(list)
    for one, value in zip(pool, values, strict=True):
        if np.isfinite(value):
            groups[key(one)].append(float(value))
    return {name: np.array(group) for name, group in groups.items()}


def category(one: Judged) -> str:
    return one.query.category or NO_CATEGORY


def as_result(pool: Sequence[Judged], done: Comparison, *, llm: bool) -> dict[str, Any]:
    """A comparison as `desk_evaluations.result` holds it: figures, ids and keys, no text of a query or chunk."""
    one, other, name = done.baseline, done.profile, done.metric
    before, after = one.values[name], other.values[name]
    unjudged = [int((judged.grades == UNJUDGED).sum()) for judged in pool]
    return {
        "k": done.k,
        "metric": name,
        "llm": llm,
        "seed": SEED,
        "resamples": RESAMPLES,
        "names": {"baseline": one.profile.name, "profile": other.profile.name},
        "primary": {"metric": name, "k": done.k, "baseline": one.mean(name), "profile": other.mean(name)}
        | _bounds(done.differences[name]),
        "profiles": [
            {
                "name": m.profile.name,
                "version": m.profile.version,
                "body": m.profile.as_json(),
                "metrics": {metric: m.mean(metric) for metric in METRICS},
                "coverage": m.coverage,
                "slots": dict(m.slots),
            }
            for m in (one, other)
        ],
        "differences": {metric: _bounds(done.differences[metric]) for metric in METRICS},
        "categories": _grouped(pool, done, category, "category"),
        "dialogs": _grouped(pool, done, lambda judged: judged.query.dialog_key, "dialog_key"),
        "tally": {"queries": asdict(done.queries), "dialogs": asdict(done.dialogs), "left_out": done.left_out},
        "queries": [
            {
                "query_id": judged.query.id,
                "dialog_key": judged.query.dialog_key,
                "category": judged.query.category,
                "baseline": _number(b),
                "profile": _number(a),
                "coverage": float(other.values["coverage"][i]),
                "baseline_coverage": float(one.values["coverage"][i]),
                "unjudged": unjudged[i],
            }
            for i, (judged, b, a) in enumerate(zip(pool, before, after, strict=True))
        ],
    }


def _grouped(
    pool: Sequence[Judged], done: Comparison, key: Callable[[Judged], str], label: str
) -> list[dict[str, Any]]:
    name = done.metric
    before = by_group(pool, done.baseline.values[name], key)
    after = by_group(pool, done.profile.values[name], key)
    covered = by_group(pool, done.profile.values["coverage"], key)
    return [
        {
            label: group,
            "queries": len(values),
            "baseline": float(values.mean()),
            "profile": float(after[group].mean()),
            "coverage": float(covered[group].mean()),
        }
        | _bounds(interval(after[group] - values))
        | {"tally": asdict(tally(after[group] - values))}
        for group, values in sorted(before.items())
    ]


def _bounds(found: Interval | None) -> dict[str, float | None]:
    if found is None:
        return {"difference": None, "low": None, "high": None}
    return {"difference": found.mean, "low": found.low, "high": found.high}


def _known(values: np.ndarray) -> np.ndarray:
    return values[np.isfinite(values)]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
