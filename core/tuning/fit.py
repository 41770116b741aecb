"""Looking for better boosts: every combination of two axes, or one axis after the other; found on one half of the
dialogs, tested on the other. Pure numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product

import numpy as np

from core.errors import InputError
from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from core.tuning.grid import evaluate, vectors_of
from core.tuning.judged import Judged
from core.tuning.resample import SEED, Interval, flat, interval

FUSION = "fusion"
VECTORS_MOST = 5_000
ROUNDS = 4
STEPS: Mapping[str, tuple[float, float, int]] = {"raw": (-0.30, 0.40, 29), "sd": (-3.0, 3.0, 25)}
FUSION_STEPS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Heat:
    """A metric over two axes: `values` float64 (len(ys), len(xs)), `flat` marks what cannot be told from the best."""

    x: str
    y: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    values: np.ndarray
    coverage: np.ndarray
    flat: np.ndarray

    @property
    def best(self) -> tuple[int, int]:
        """(row, column) of the largest value, the first of equal ones."""
        row, column = np.unravel_index(int(np.argmax(self.values)), self.values.shape)
        return int(row), int(column)


@dataclass(frozen=True, eq=False)
class Fit:
    """The best profile found on `train`, with its gain there and on the dialogs kept out, None where none were.

    `overfit`: how much of the gain was not there again, train minus held out. `tried`: boost vectors looked at. `id`:
    under which it is kept, None where nothing better was found. `train_ids`: the queries that decided.
    """

    profile: Profile
    train: Interval | None
    held_out: Interval | None
    train_queries: int
    held_out_queries: int
    tried: int
    id: str | None = None
    train_ids: tuple[str, ...] = ()

    @property
    def overfit(self) -> float | None:
        return None if self.train is None or self.held_out is None else self.train.mean - self.held_out.mean


def split(pool: Sequence[Judged], seed: int = SEED) -> tuple[list[Judged], list[Judged]]:
    """Two halves by dialog, so that no dialog is in both: in the order of a hash, until one has half of the queries.

    Queries without a relevant chunk are in neither. With a single dialog the second half is empty.
    """
    groups: dict[str, list[Judged]] = {}
    for one in pool:
        if one.relevant:
            groups.setdefault(one.query.dialog_key, []).append(one)
    keys = sorted(groups, key=lambda key: sha256(f"{seed}:{key}".encode("utf-8", "surrogatepass")).digest())
    half = sum(map(len, groups.values())) / 2
    train: list[Judged] = []
    held: list[Judged] = []
    for key in keys:
        (train if len(train) < half and not (train and key == keys[-1]) else held).extend(groups[key])
    return train, held


def steps(profile: Profile, axis: str) -> tuple[float, ...]:
    """The values looked at on an axis, the profile's own among them."""
    if axis == FUSION:
        return tuple(sorted({*FUSION_STEPS, float(profile.fusion)}))
    low, high, count = STEPS[profile.unit]
    return tuple(sorted({*(round(float(v), 4) for v in np.linspace(low, high, count)), at(profile, axis)}))


def at(profile: Profile, axis: str) -> float:
    return float(profile.fusion if axis == FUSION else profile.weights.get(axis, 0.0))


def moved(profile: Profile, axes: Mapping[str, float]) -> Profile:
    """The profile with other boosts or fusion, without a version: it is not stored."""
    fusion = axes.get(FUSION, profile.fusion)
    weights = {**profile.weights, **axes}
    return replace(profile, version=None, fusion=fusion, weights={s: weights[s] for s in SOURCES if weights.get(s)})


def heat(pool: Sequence[Judged], profile: Profile, x: str, y: str, metric: str, k: int) -> Heat:
    """A metric over two axes, everything else as in the profile. Errors: InputError for one axis twice."""
    if x == y:
        raise InputError("Two different axes are needed.", field="axis")
    xs, ys = steps(profile, x), steps(profile, y)
    profiles = [moved(profile, {x: a, y: b}) for b, a in product(ys, xs)]
    counted = [one for one in pool if one.relevant]
    values, coverage = values_of(counted, profiles, metric, k)
    means = values.mean(axis=0) if len(counted) else np.zeros(len(profiles))
    shape = (len(ys), len(xs))
    covered = coverage.mean(axis=0) if len(counted) else means
    same = flat(values, int(np.argmax(means)))
    return Heat(x, y, xs, ys, means.reshape(shape), covered.reshape(shape), same.reshape(shape))


def values_of(
    pool: Sequence[Judged], profiles: Sequence[Profile], metric: str, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """(values, coverage) of every query under every profile; those that share a fusion are looked at together."""
    values, coverage = np.empty((len(pool), len(profiles))), np.empty((len(pool), len(profiles)))
    for fusion in dict.fromkeys(p.fusion for p in profiles):
        mine = [i for i, p in enumerate(profiles) if p.fusion == fusion]
        vectors = vectors_of([profiles[i].weights for i in mine])
        values[:, mine], coverage[:, mine] = evaluate(pool, profiles[mine[0]], vectors, metric, k)
    return values, coverage


def search(
    pool: Sequence[Judged],
    profile: Profile,
    axes: Sequence[str],
    metric: str,
    k: int,
    *,
    progress: Progress | None = None,
    check: Callable[[], None] | None = None,
) -> Fit:
    """Coordinate search: the best value of one axis, all others held, round by round until nothing gets better.

    Only on the first half of `split`; of equal values the one nearest to where the profile stood. Errors: InputError
    where no query has a relevant chunk.
    """
    train, held = split(pool)
    if not train:
        raise InputError("No query has a relevant chunk.", hint="Judge some results first.")
    here, tried, best = profile, 0, -1.0
    for turn in range(ROUNDS):
        before = best
        for number, axis in enumerate(axes):
            if check:
                check()
            values = steps(profile, axis)
            means = values_of(train, [moved(here, {axis: v}) for v in values], metric, k)[0].mean(axis=0)
            tried += len(values)
            near = np.array([abs(v - at(profile, axis)) for v in values])
            chosen = int(np.lexsort((near, -np.round(means, 12)))[0])
            if means[chosen] > best + 1e-12:
                best, here = float(means[chosen]), moved(here, {axis: values[chosen]})
            if progress:
                progress(turn * len(axes) + number + 1, ROUNDS * len(axes))
        if best <= before + 1e-12:
            break
    return _fitted(profile, here, train, held, metric, k, tried)


def grid(pool: Sequence[Judged], profile: Profile, axes: Mapping[str, Sequence[float]], metric: str, k: int) -> Fit:
    """Every combination of the values of some axes, judged as `search` is. Errors: InputError for too many."""
    count = int(np.prod([len(values) for values in axes.values()]))
    if not 0 < count <= VECTORS_MOST:
        raise InputError(f"The grid has {count:,} points, at most {VECTORS_MOST:,}.", hint="Take fewer axes or steps.")
    train, held = split(pool)
    if not train:
        raise InputError("No query has a relevant chunk.", hint="Judge some results first.")
    points = [moved(profile, dict(zip(axes, point, strict=True))) for point in product(*axes.values())]
    means = values_of(train, points, metric, k)[0].mean(axis=0)
    return _fitted(profile, points[int(np.argmax(np.round(means, 12)))], train, held, metric, k, count)


def _fitted(
    before: Profile, after: Profile, train: list[Judged], held: list[Judged], metric: str, k: int, tried: int
) -> Fit:
    gains = []
    for half in (train, held):
        values = values_of(half, [before, after], metric, k)[0]
        gains.append(interval(values[:, 1] - values[:, 0]))
    ids = tuple(one.query.id for one in train)
    return Fit(after, gains[0], gains[1], len(train), len(held), tried, train_ids=ids)
