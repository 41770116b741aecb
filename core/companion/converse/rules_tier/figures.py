"""What the days of a range come to, beside the range before: sums and means of the modules' own metrics."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

from core.companion.contract import Measure, MetricDef, Module
from core.companion.reflect.measures import Daily, Measures
from core.errors import CoreError

log = logging.getLogger(__name__)

How = Literal["sum", "mean"]
# In this order; a mean is over the days that have a value.
WANTED: tuple[tuple[str, How], ...] = (
    ("todo.completed", "sum"),
    ("calendar.appointments", "sum"),
    ("calendar.meeting_hours", "sum"),
    ("drink.water_ml", "mean"),
    ("food.meals", "sum"),
    ("food.calories", "mean"),
    ("places.visits", "sum"),
    ("memory.ingested_chunks", "sum"),
    ("memory.searches", "sum"),
    ("memory.wrong_context", "sum"),
    ("snapshots.changed", "sum"),
    ("usage.calls", "sum"),
    ("usage.tokens", "sum"),
    ("usage.cost", "sum"),
    ("health.incidents", "sum"),
    ("health.degraded_minutes", "sum"),
)
GOALS = MetricDef("companion.goals", "companion", "Goals reached", "goals", Measure(("GoalReached",)))
PAGES: Mapping[str, str] = {"companion": "goals", "memory": "prompts"}


@dataclass(frozen=True)
class Compared:
    """A metric of a range and of the one before; None where there is no value, `failed` where it cannot be had."""

    module: str
    label: str
    unit: str
    how: How
    now: float | None
    before: float | None
    failed: bool = False

    @property
    def name(self) -> str:
        """With the unit, where the label does not say it, and with what it is a mean of."""
        unit = "" if self.unit.lower() in self.label.lower() else f", {self.unit}"
        return f"{self.label}{unit}{' a day' if self.how == 'mean' else ''}"

    @property
    def page(self) -> str:
        """The page that shows it."""
        return PAGES.get(self.module, self.module)

    @property
    def change(self) -> str:
        """In percent against the range before, in words where there is none to compare with."""
        if self.now is None or self.before is None:
            return "–" if self.now is None else "new"
        if self.before == 0:
            return "same" if self.now == 0 else "new"
        percent = round((self.now - self.before) / self.before * 100)
        return "same" if percent == 0 else f"{percent:+d} %"


class RangeFigures:
    """Thread-safe. Errors: DatabaseError where none of them can be had."""

    def __init__(self, measures: Measures, modules: Sequence[Module]) -> None:
        self._measures = measures
        known = {metric.id: metric for module in modules for metric in module.metrics}
        self._metrics: tuple[tuple[MetricDef, How], ...] = (
            *((known[id], how) for id, how in WANTED if id in known),
            (GOALS, "sum"),
        )

    def compare(self, today: date, days: int) -> tuple[Compared, ...]:
        """The `days` days up to today against as many before; metrics without a value in either are left out."""
        first = today - timedelta(days=2 * days - 1)
        turn = today - timedelta(days=days - 1)
        by_measure = {m.id: m.measure for m, _ in self._metrics if m.measure is not None}
        counted = self._measures.daily(by_measure, first, today)
        found = []
        for metric, how in self._metrics:
            daily = counted.get(metric.id) if metric.measure is not None else _asked(metric, first, today)
            if daily is None:
                found.append(Compared(metric.module, metric.label, metric.unit, how, None, None, failed=True))
                continue
            now = _total([v for day, v in daily.items() if day >= turn], how)
            before = _total([v for day, v in daily.items() if day < turn], how)
            if now or before:
                # A sum of nothing is zero; a mean of nothing is not known.
                empty = 0.0 if how == "sum" else None
                found.append(
                    Compared(
                        metric.module,
                        metric.label,
                        metric.unit,
                        how,
                        empty if now is None else now,
                        empty if before is None else before,
                    )
                )
        return tuple(found)


def _asked(metric: MetricDef, first: date, last: date) -> Daily | None:
    try:
        given: Mapping[date, Any] = metric.daily(first, last) if metric.daily else {}
        return {day: float(value) for day, value in given.items() if first <= day <= last}
    except CoreError as failure:
        log.warning("the metric %s gave no days (%s)", metric.id, failure.code)
        return None


def _total(values: Sequence[float], how: How) -> float | None:
    if not values:
        return None
    return sum(values) if how == "sum" else sum(values) / len(values)
