"""Which daily metrics move together: a pure function of their days. Source: spec/companion.md, CO-1 to CO-4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Literal

import numpy as np

from core.companion.contract import MetricDef
from core.companion.reflect.days import day_range
from core.companion.reflect.statistics import benjamini_hochberg, p_value, pearson, spearman

MIN_R, MAX_P = 0.3, 0.05
MIN_DAYS, MIN_EVENTS = 14, 20
CLEARLY = 0.6
# Days on which a series is not at its usual value. With fewer one extraordinary day, or a few, would make the finding.
MIN_UNUSUAL_DAYS = 5
FALSE_SHARE = 0.05

Direction = Literal["positive", "negative"]


@dataclass(frozen=True)
class Factor:
    module: str
    metric: str
    label: str


@dataclass(frozen=True)
class Finding:
    """Two metrics that move together; `p` is two-sided, `days` how many days were compared."""

    id: str
    a: Factor
    b: Factor
    r: float
    p: float
    days: int
    direction: Direction
    sentence: str


@dataclass(frozen=True)
class Series:
    """A metric's value by day, days without one left out; `events`: how many events it was made from."""

    metric: MetricDef
    values: Mapping[date, float]
    events: float


@dataclass(frozen=True)
class _Tested:
    finding: Finding
    p: float  # the worse one of Pearson's and the ranks'
    passes: bool


def find_pairs(series: Sequence[Series], last: date, *, strict: bool = True) -> tuple[Finding, ...]:
    """What holds over the days up to `last`, strongest first.

    `strict`: of all pairs looked at together at most one finding in twenty is expected to be chance
    (Benjamini-Hochberg); without it one pair in twenty would be found in pure chance.
    """
    alive = [s for s in series if any(value != 0 for value in s.values.values())]
    tested = [
        found
        for a, b in combinations(sorted(alive, key=lambda s: s.metric.id), 2)
        if a.metric.module != b.metric.module and not _trivial(a.metric, b.metric) and (found := _test(a, b, last))
    ]
    holds = benjamini_hochberg([t.p for t in tested], FALSE_SHARE) if strict else [True] * len(tested)
    kept = [t.finding for t, real in zip(tested, holds, strict=True) if real and t.passes]
    return tuple(sorted(kept, key=lambda f: (-abs(f.r), f.id)))


def compared(a: Series, b: Series, last: date) -> tuple[list[date], np.ndarray, np.ndarray]:
    """Every day from the first on which both metrics were in use up to `last`; a day without a value is 0."""
    first = max(min(a.values), min(b.values))
    days = day_range(first, last) if first <= last else []
    x, y = (np.array([s.values.get(day, 0.0) for day in days], dtype=float) for s in (a, b))
    return days, x, y


def _test(a: Series, b: Series, last: date) -> _Tested | None:
    days, x, y = compared(a, b, last)
    n = len(days)
    if n < MIN_DAYS or a.events + b.events < MIN_EVENTS:
        return None
    if min(_unusual(x), _unusual(y)) < MIN_UNUSUAL_DAYS:
        return None
    r, rank = pearson(x, y), spearman(x, y)
    p, rank_p = p_value(r, n), p_value(rank, n)
    agree = r * rank > 0 and abs(rank) >= MIN_R and rank_p < MAX_P
    # Rounded only to be shown: .3 and .05 are judged by what was computed.
    passes = abs(r) >= MIN_R and p < MAX_P and agree
    finding = Finding(
        id=f"corr:{a.metric.id}:{b.metric.id}",
        a=_factor(a.metric),
        b=_factor(b.metric),
        r=round(r, 2),
        p=p,
        days=n,
        direction="positive" if r > 0 else "negative",
        sentence=_sentence(a.metric.label, b.metric.label, r, x, y),
    )
    return _Tested(finding, max(p, rank_p), passes)


def _unusual(values: np.ndarray) -> int:
    """How many days differ from the most frequent value."""
    _, counts = np.unique(values, return_counts=True)
    return int(len(values) - counts.max())


def _trivial(a: MetricDef, b: MetricDef) -> bool:
    return a.id in b.trivial_with or b.id in a.trivial_with


def _factor(metric: MetricDef) -> Factor:
    return Factor(metric.module, metric.id.partition(".")[2], metric.label)


def _sentence(a: str, b: str, r: float, x: np.ndarray, y: np.ndarray) -> str:
    how = "clearly" if abs(r) > CLEARLY else "slightly"
    way = "more" if r > 0 else "less"
    text = f"On days with more {_lower(a)} there is {how} {way} {_lower(b)}"
    middle = float(np.median(x))
    above = x > middle if (x > middle).any() else x >= middle
    if above.all() or y[~above].mean() == 0:
        return f"{text}."
    change = round(100 * (float(y[above].mean()) / float(y[~above].mean()) - 1))
    # Halves may say the opposite of all the days, where a few weigh much: then no figure is better than that one.
    if change == 0 or (change > 0) != (r > 0):
        return f"{text}."
    return f"{text} ({abs(change)} % {way})."


def _lower(label: str) -> str:
    """Within a sentence; abbreviations stay as they are."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]
