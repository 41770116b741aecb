"""Memory: chunks and searches, as the companion sees them. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from core.companion.contract import (
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    Section,
    StreakDef,
)
from core.companion.modules.desk import Desk, share
from core.companion.modules.memory_corrections import inverses
from core.companion.modules.memory_rules import RULES
from core.companion.modules.memory_tools import tools

EVENTS = (
    *("DialogIngested", "IngestEmpty", "IngestFailed", "SearchPerformed", "SearchFallbackUsed", "SearchEmpty"),
    *("ChunksReembedded", "ChunksExcluded", "ChunksDeleted", "ChunksRestored", "DialogKeyAmbiguous"),
    *("DialogKeysMerged", "MergeUndone", "DialogErased", "WrongContextReported", "WrongContextWithdrawn"),
    *("PhotoTextMissing", "PhotoDescribed", "PhotoFailed"),
)
STATE = ("memory.stale_chunks", "memory.ambiguous_pairs", "memory.photos_without_text")
# What makes the state that is counted seldom another at once, and the note of it.
CHANGED = "memory.changed"
COUNTED_ANEW = ("ChunksReembedded", "DialogKeysMerged", "MergeUndone", "DialogErased", "PhotoDescribed")
SEARCHES = Measure(("SearchPerformed",))
HOUR = {"searches": 0, "fallback_percent": 0.0, "p95_ms": None}
EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("total_chunks", "dialogs", "ingests", "searches", "fallbacks", "wrong_context"), 0),
    **dict.fromkeys(("stale_model_chunks", "ambiguous_dialogs", "photos_without_text", "written_elsewhere_6h"), 0),
    **dict.fromkeys(("fallback_percent", "empty_percent", "stale_model_percent"), 0.0),
    **{"by_source": {}, "p50_ms": None, "p95_ms": None, "model": None},
    **{"hour": HOUR, "never_ingested": [], "limits": {}},
}


def memory(desk: Desk) -> Module:
    def build(day: date) -> Mapping[str, Any]:
        return section(desk, day)

    return Module(
        name="memory",
        label="Memory",
        content_class="sensitive",
        events=EVENTS,
        section=Section(build, EMPTY, stale_after=EVENTS),
        tools=tools(desk),
        streaks=(
            StreakDef(
                "memory.no_wrong_context",
                "memory",
                "No wrong context",
                Measure(("SearchPerformed",), unless=("WrongContextReported",)),
                closing=True,
            ),
        ),
        metrics=_metrics(),
        goal_templates=_goals(),
        rules=RULES,
        extractors=(
            Extractor("time", "SearchPerformed", "memory is searched"),
            Extractor("dow", "SearchPerformed", "memory is searched"),
            Extractor("frequency", "SearchPerformed", "memory is searched"),
        ),
        inverses=inverses(desk),
        handlers=dict.fromkeys(COUNTED_ANEW, lambda _: desk.note({CHANGED: 1})),
    )


def section(desk: Desk, day: date) -> Mapping[str, Any]:
    """The memory's part of a local day. Errors: DatabaseError."""
    desk.deps.events.drain.flush(0.5)  # what was just done here is part of the day
    period = desk.period(day)
    row: Any = desk.read("companion_memory_day", **{"from": period.start}, to=period.end, now=desk.deps.clock.now())
    state = desk.noted(lambda: _state(desk), *STATE, every=timedelta(hours=1), mark=CHANGED)
    chunks, hour = sum(row["by_source"].values()), row["hour"]
    stale = int(state["memory.stale_chunks"])
    names = ("dialogs", "ingests", "searches", "fallbacks", "wrong_context", "p50_ms", "p95_ms", "by_source")
    kept = (*names, "written_elsewhere_6h", "never_ingested")
    return {
        **{name: row[name] for name in kept},
        "total_chunks": chunks,
        "fallback_percent": share(row["fallbacks"], row["searches"]),
        "empty_percent": share(row["empty"], row["searches"]),
        "model": desk.deps.model(),
        "stale_model_chunks": stale,
        "stale_model_percent": share(stale, chunks),
        "ambiguous_dialogs": int(state["memory.ambiguous_pairs"]),
        "photos_without_text": int(state["memory.photos_without_text"]),
        "hour": {
            "searches": hour["searches"],
            "fallback_percent": share(hour["fallbacks"], hour["searches"]),
            "p95_ms": hour["p95_ms"],
        },
        "limits": {
            name: desk.limit(f"memory.{name}")
            for name in ("p95_ms", "fallback_percent", "searches_least", "stale_percent")
        },
    }


def _state(desk: Desk) -> dict[str, float]:
    found: Any = desk.read("companion_memory_state", model=desk.deps.model())
    return {f"memory.{name}": float(value) for name, value in found.items()}


def _metrics() -> tuple[MetricDef, ...]:
    tokens = ("usage.tokens",)
    return (
        MetricDef(
            "memory.ingested_chunks",
            "memory",
            "Chunks ingested",
            "chunks",
            Measure(("DialogIngested",), "sum", "upserted"),
            trivial_with=tokens,
        ),
        MetricDef("memory.searches", "memory", "Searches", "searches", SEARCHES, trivial_with=tokens),
        MetricDef(
            "memory.p95_ms",
            "memory",
            "Search latency, 95th percentile",
            "ms",
            Measure(("SearchPerformed",), "p95", "latency_ms"),
        ),
        MetricDef(
            "memory.fallback_share",
            "memory",
            "Share of searches by words alone",
            "0 to 1",
            Measure(("SearchPerformed",), "avg", "fallback"),
        ),
        MetricDef("memory.empty", "memory", "Searches that found nothing", "searches", Measure(("SearchEmpty",))),
        MetricDef(
            "memory.wrong_context", "memory", "Reports of wrong context", "reports", Measure(("WrongContextReported",))
        ),
    )


def _goals() -> tuple[GoalTemplate, ...]:
    return (
        GoalTemplate(
            "memory.latency",
            "Search latency within 800 ms (95th percentile)",
            "memory",
            GoalMetric("custom", name="memory.p95_ms"),
            GoalTarget(800, "day", "lte"),
        ),
        GoalTemplate(
            "memory.no-fallback",
            "No search by words alone",
            "memory",
            GoalMetric("event_count", ("SearchPerformed",), filter_field="fallback", filter_value="true"),
            GoalTarget(0, "day", "lte"),
        ),
        GoalTemplate(
            "memory.no-wrong-context",
            "No wrong context in a week",
            "memory",
            GoalMetric("event_count", ("WrongContextReported",), ("WrongContextWithdrawn",)),
            GoalTarget(0, "week", "lte"),
        ),
    )
