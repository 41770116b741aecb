"""Which daily metrics move together."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date, timedelta

import numpy as np
import pytest

from core.companion.contract import MetricDef
from core.companion.reflect.pairs import Series, find_pairs

LAST = date(2026, 11, 29)


def series(name: str, values: Sequence[float], *, events: float = 100, trivial: tuple[str, ...] = ()) -> Series:
    """The last value is that of the last day."""
    days = {LAST - timedelta(days=n): float(value) for n, value in enumerate(reversed(values))}
    metric = MetricDef(name, name.partition(".")[0], name.replace(".", " ").capitalize(), "", trivial_with=trivial)
    return Series(metric, days, events)


def found(*given: Series, strict: bool = True) -> list[tuple[str, float]]:
    return [(f.id, f.r) for f in find_pairs(given, LAST, strict=strict)]


RISING = list(range(1, 31))


def test_a_pair_that_moves_together() -> None:
    """With its sign, across modules, in one order."""
    falling = [40 - value for value in RISING]
    [pair] = find_pairs([series("drink.coffee", RISING), series("todo.done", falling)], LAST)
    assert (pair.id, pair.r, pair.direction, pair.days) == ("corr:drink.coffee:todo.done", -1.0, "negative", 30)
    assert pair.p < 1e-9 and (pair.a.module, pair.a.metric) == ("drink", "coffee")


@pytest.mark.parametrize(
    "given",
    [
        [series("todo.done", RISING), series("todo.overdue", RISING)],
        [series("todo.done", RISING, events=2), series("drink.coffee", RISING, events=3)],
        [series("todo.done", RISING), series("drink.coffee", [0] * 30)],
        [series("todo.done", RISING), series("drink.coffee", [1] * 30)],
        [series("memory.searches", RISING, trivial=("usage.total",)), series("usage.total", RISING)],
        [series("todo.done", RISING)],
        [],
    ],
    ids=["one module", "five events", "all zero", "constant", "mechanical", "one metric", "none"],
)
def test_what_is_no_finding(given: list[Series]) -> None:
    """Not even without the stricter switch."""
    assert found(*given) == found(*given, strict=False) == []


def test_thirteen_days_are_too_few() -> None:
    """Fourteen can be enough."""
    assert found(series("a.x", RISING[:13]), series("b.y", RISING[:13])) == []
    assert found(series("a.x", RISING[:14]), series("b.y", RISING[:14])) == [("corr:a.x:b.y", 1.0)]


def test_days_without_an_event_are_zero() -> None:
    """Every day from when both were in use; a metric that began later does not make the days before."""
    busy = series("a.x", [5, 0] * 15)
    gaps = Series(series("b.y", [1]).metric, {day: 1.0 for day, value in busy.values.items() if value}, 100)
    assert found(busy, gaps) == [("corr:a.x:b.y", 1.0)]
    late = Series(gaps.metric, {day: 1.0 for day in gaps.values if (LAST - day).days < 12}, 100)
    assert found(busy, late) == []


def weak(rng: np.random.Generator, r: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two series whose Pearson correlation is exactly r."""
    a, b = rng.normal(size=(2, n))
    a = (a - a.mean()) / np.linalg.norm(a - a.mean())
    b = b - b.mean() - a * ((b - b.mean()) @ a)
    return a, r * a + math.sqrt(1 - r * r) * b / np.linalg.norm(b)


def test_weak_and_uncertain_ones_are_dropped() -> None:
    """r = .31 over 30 days has p = .096; r = .29 over 60 has p = .025: both are none."""
    rng = np.random.default_rng(1)
    for r, n in ((0.31, 30), (0.29, 60)):
        for _ in range(20):
            a, b = weak(rng, r, n)
            assert found(series("a.x", a), series("b.y", b), strict=False) == []


def test_one_extraordinary_day_is_no_insight() -> None:
    """Pearson says 1.00 and p 0 over 30 days; also where the other days are all alike, or are noise."""
    spike = [0] * 15 + [50] + [0] * 14
    cups = [0] * 15 + [3] + [0] * 14
    assert found(series("todo.done", spike), series("drink.coffee", cups), strict=False) == []
    assert found(series("a.x", [v + 1 for v in spike]), series("b.y", [v + 1 for v in cups]), strict=False) == []
    rng = np.random.default_rng(7)
    x, y = rng.integers(0, 4, size=(2, 30))
    x[15], y[15] = 400, 90
    assert found(series("a.x", x), series("b.y", y), strict=False) == []


def test_equal_but_for_one_day() -> None:
    """That day does not hide what all the others say."""
    almost = [*RISING[:-1], 0]
    [(_, r)] = found(series("a.x", RISING), series("b.y", almost))
    assert 0.3 < r < 1


def test_sentences() -> None:
    """Slightly or clearly, more or less, with the difference between the halves where that can be said."""

    def sentence(a: Sequence[float], b: Sequence[float]) -> str:
        [pair] = find_pairs([series("a.coffee", a), series("b.done", b)], LAST, strict=False)
        json.dumps(asdict(pair), allow_nan=False)
        return pair.sentence

    doubled = [2.0 if n % 2 else 1.0 for n in range(30)]
    assert sentence(doubled, doubled) == "On days with more a coffee there is clearly more b done (100 % more)."
    assert (
        sentence(doubled, [3 - v for v in doubled])
        == "On days with more a coffee there is clearly less b done (50 % less)."
    )
    assert sentence(doubled, [v - 1 for v in doubled]) == "On days with more a coffee there is clearly more b done."
    mixed = [v + (n % 7) * 0.35 for n, v in enumerate(doubled)]
    assert "slightly more" in sentence(doubled, mixed)


def world(rng: np.random.Generator, metrics: int = 24, days: int = 60) -> list[Series]:
    """Metrics of six modules that have nothing to do with each other: counts, shares, rare events, amounts."""
    make: list[Callable[[], np.ndarray]] = [
        lambda: rng.poisson(3, days),
        lambda: rng.gamma(2, 400, days),
        lambda: rng.binomial(1, 0.3, days),
        lambda: rng.poisson(0.4, days),
    ]
    return [series(f"m{n % 6}.x{n}", make[n % 4]()) for n in range(metrics)]


def test_chance_is_not_found() -> None:
    """In 40 worlds of 240 unrelated pairs each no more than a twentieth has a finding; planted ones are all there."""
    rng = np.random.default_rng(11)
    false_worlds = lost = 0
    for _ in range(40):
        given = world(rng)
        false_worlds += bool(find_pairs(given, LAST))
        coffee = rng.poisson(3, 60)
        given += [series("p.coffee", coffee), series("q.done", coffee * 2 + rng.poisson(2, 60))]
        lost += "corr:p.coffee:q.done" not in {f.id for f in find_pairs(given, LAST)}
    assert false_worlds <= 4 and lost == 0
