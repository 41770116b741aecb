"""Correlations between the days of different modules, computed once a day and kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from core.clock import Clock
from core.companion.contract import Measure, MetricDef
from core.companion.reflect.days import local_today
from core.companion.reflect.measures import Daily, Measures
from core.companion.reflect.pairs import Direction, Factor, Series, compared, find_pairs
from core.db.client import Database

log = logging.getLogger(__name__)

LOOK_BACK = 60


@dataclass(frozen=True)
class Correlation:
    """A pair that moves together; `coefficient` is Pearson's r to two decimals, `sample_size` the days compared."""

    id: str
    factor_a: Factor
    factor_b: Factor
    coefficient: float
    p_value: float
    sample_size: int
    direction: Direction
    sentence: str
    computed_at: datetime
    shown_at: datetime | None = None


@dataclass(frozen=True)
class Scatter:
    """The days behind a correlation, one point each."""

    days: list[date]
    a: np.ndarray
    b: np.ndarray


class Correlations:
    """Thread-safe; one per process. `strict` is asked at each computation: Benjamini-Hochberg over all pairs."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        zone: ZoneInfo,
        measures: Measures,
        metrics: Sequence[MetricDef],
        *,
        strict: Callable[[], bool] = lambda: True,
    ) -> None:
        self._db = db
        self._clock = clock
        self._zone = zone
        self._measures = measures
        self._metrics = {metric.id: metric for metric in metrics}
        self._strict = strict

    def all(self) -> tuple[Correlation, ...]:
        """Those of the last computation, strongest first. Errors: DatabaseError."""
        return tuple(_read(row) for row in self._db.rpc("companion_correlation_list", {}, read=True, returns=list))

    def compute(self, days: int = LOOK_BACK) -> dict[str, int]:
        """Compute and keep those up to yesterday: {found, metrics, failed}. Errors: DatabaseError."""
        yesterday = local_today(self._clock, self._zone) - timedelta(days=1)
        series, failed = self._series(list(self._metrics.values()), yesterday, days)
        found = find_pairs(series, yesterday, strict=self._strict())
        now = self._clock.now().isoformat()
        rows = [
            {
                "id": f.id,
                "factors": {"a": asdict(f.a), "b": asdict(f.b)},
                "r": f.r,
                "p": f.p,
                "n": f.days,
                "direction": f.direction,
                "sentence": f.sentence,
                "computed_at": now,
            }
            for f in found
        ]
        self._db.rpc("companion_replace_correlations", {"p_rows": rows}, read=False)
        return {"found": len(found), "metrics": len(series), "failed": failed}

    def scatter(self, correlation: Correlation, days: int = LOOK_BACK) -> Scatter | None:
        """The days up to the one before it was computed; None where one of the metrics is no more.

        Errors: DatabaseError.
        """
        last = correlation.computed_at.astimezone(self._zone).date() - timedelta(days=1)
        ids = [f"{f.module}.{f.metric}" for f in (correlation.factor_a, correlation.factor_b)]
        if any(id not in self._metrics for id in ids):
            return None
        series, _ = self._series([self._metrics[id] for id in ids], last, days)
        if len(series) < 2:
            return None
        return Scatter(*compared(series[0], series[1], last))

    def mark_shown(self, id: str) -> None:
        """Note once that the operator has seen it. Errors: DatabaseError."""
        params = {"p_id": id, "p_at": self._clock.now().isoformat()}
        self._db.rpc("companion_mark_correlation_shown", params, read=False)

    def _series(self, metrics: Sequence[MetricDef], last: date, days: int) -> tuple[list[Series], int]:
        first = last - timedelta(days=days - 1)
        asked: dict[str, Measure] = {}
        for metric in metrics:
            if metric.measure:
                asked[metric.id] = metric.measure
                asked[f"{metric.id}#"] = replace(metric.measure, agg="count", minus=())
        daily = self._measures.daily(asked, first, last)
        series, failed = [], 0
        for metric in metrics:
            try:
                values = daily[metric.id] if metric.measure else _asked(metric, first, last)
            except Exception as bug:
                # One module's fault, not that of the others.
                log.warning("the metric %s gave no days (%s)", metric.id, type(bug).__name__)
                failed += 1
                continue
            counted = sum(daily[f"{metric.id}#"].values()) if metric.measure else float(len(values))
            if values:
                series.append(Series(metric, values, counted))
        return series, failed


def _asked(metric: MetricDef, first: date, last: date) -> Daily:
    given: Mapping[date, float] = metric.daily(first, last) if metric.daily else {}
    return {day: float(value) for day, value in given.items() if first <= day <= last}


def _read(row: Mapping[str, Any]) -> Correlation:
    return Correlation(
        id=row["id"],
        factor_a=Factor(**row["factors"]["a"]),
        factor_b=Factor(**row["factors"]["b"]),
        coefficient=float(row["r"]),
        p_value=float(row["p"]),
        sample_size=int(row["n"]),
        direction=row["direction"],
        sentence=row["sentence"],
        computed_at=datetime.fromisoformat(row["computed_at"]),
        shown_at=datetime.fromisoformat(row["shown_at"]) if row["shown_at"] else None,
    )
