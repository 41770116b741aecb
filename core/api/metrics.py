"""GET /metrics: Prometheus text. Counts, statuses and times; no key, no id, no text of anybody."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from core.api.call import Answer, Call, Text
from core.bootstrap import Core
from core.errors import CoreError

log = logging.getLogger(__name__)

STATUSES = ("ok", "degraded", "down", "unknown")
SERIES = 200  # provider, model and phase are whatever upstream writes: no more lines than these
LABEL = 100
READ_S = 3.0
AGE_S = 15.0  # a scrape shares a report that is younger

# Of this process, since its start. The route is the pattern, never the path: a path may hold a key.
_registry = CollectorRegistry()
REQUESTS = Histogram(
    "memory_desk_api_request_seconds",
    "Time of API requests by route and status.",
    ("route", "method", "status"),
    registry=_registry,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def observe(route: str, method: str, status: int, seconds: float) -> None:
    """Count one request; methods that no route has are one."""
    known = method if method in ("GET", "HEAD", "POST") else "other"
    REQUESTS.labels(route, known, str(status)).observe(seconds)


def metrics(core: Core, _: Call) -> Answer:
    """200 also while the database is away: then its figures are missing, and memory_desk_up says why."""
    registry = CollectorRegistry()
    registry.register(_Figures(core))
    text = generate_latest(registry) + generate_latest(_registry)
    return Text(text.decode(), CONTENT_TYPE_LATEST), 200


class _Figures(Collector):
    def __init__(self, core: Core) -> None:
        self._core = core

    def collect(self) -> Iterator[Metric]:
        yield from self._health()
        for read in (self._memory, self._counts, self._usage):
            try:
                yield from list(read())
            except CoreError as error:
                log.info("metrics lack %s (%s)", read.__name__.strip("_"), error.code)

    def describe(self) -> Iterable[Metric]:
        return ()

    def _health(self) -> Iterator[Metric]:
        report = self._core.health.report(max_age_s=AGE_S)
        up = GaugeMetricFamily("memory_desk_up", "1 unless Auth or the chunk table is down.")
        up.add_metric((), float(report.status != "down"))
        yield up
        states = GaugeMetricFamily(
            "memory_desk_component_status", "1 for the status a component is in.", labels=("component", "status")
        )
        times = GaugeMetricFamily("memory_desk_check_seconds", "Time of each check.", labels=("component",))
        for component in report.components:
            for status in STATUSES:
                states.add_metric((component.name, status), float(component.status == status))
            times.add_metric((component.name,), component.latency_ms / 1000)
        yield states
        yield times
        depth = self._core.events.spool.depth()
        spool = GaugeMetricFamily("memory_desk_spool_records", "Records not yet written.", labels=("state",))
        for state in ("waiting", "in_memory", "refused"):
            spool.add_metric((state,), getattr(depth, state))
        yield spool

    def _memory(self) -> Iterator[Metric]:
        found = self._core.dialogs.overview()
        yield _family("memory_desk_chunks", "Chunks by source.", ("source",), found.by_source.items())
        by_model = ((model or "none", n) for model, n in found.by_model.items())
        yield _family("memory_desk_model_chunks", "Chunks by embedding model.", ("model",), by_model)
        yield _family("memory_desk_dialogs", "Dialogs.", (), [((), found.dialogs)])

    def _counts(self) -> Iterator[Metric]:
        found = self._core.db.rpc("desk_health_counts", {}, read=True, returns=dict, timeout_s=READ_S)
        if "jobs" in found:
            yield _family("memory_desk_jobs", "Jobs by state.", ("state",), found["jobs"]["by_state"].items())
        if "expired" in found:
            rows = [((), found["expired"]["rows"])]
            yield _family("memory_desk_expired_snapshots", "Snapshots past their expiry, at most 100000.", (), rows)

    def _usage(self) -> Iterator[Metric]:
        now = self._core.clock.now().astimezone(UTC)
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC)
        params = {"p_from": midnight.isoformat(), "p_to": now.isoformat(), "p_group_by": ["phase"], "p_tz": "UTC"}
        found = self._core.db.rpc("desk_usage_summary", params, read=True, returns=dict, timeout_s=READ_S)
        for kind in ("prompt", "completion", "total"):
            totals: dict[tuple[str, ...], float] = {}
            for row in found["rows"]:
                key = tuple(str(row[name] or "unknown") for name in ("provider", "model", "phase"))
                totals[key] = totals.get(key, 0.0) + float(row[kind])
            title = f"{kind.capitalize()} tokens since midnight UTC."
            yield _family(f"memory_desk_tokens_today_{kind}", title, ("provider", "model", "phase"), totals.items())


def _family(name: str, title: str, labels: tuple[str, ...], rows: Iterable[tuple[Any, Any]]) -> GaugeMetricFamily:
    """One gauge; the largest lines where there are too many of them."""
    family = GaugeMetricFamily(name, title, labels=labels)
    ranked = sorted(((k if isinstance(k, tuple) else (k,), float(v)) for k, v in rows), key=lambda r: (-r[1], r[0]))
    merged: dict[tuple[str, ...], float] = {}
    for key, value in ranked[:SERIES]:
        short = tuple(part[:LABEL] for part in key)
        merged[short] = merged.get(short, 0.0) + value
    for key, value in merged.items():
        family.add_metric(key, value)
    return family
