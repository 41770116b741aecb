"""Index use, usage totals, expired snapshots, jobs: from an answer to a verdict."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.health import stock

NOW = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
JOBS: dict[str, Any] = {"by_state": {"done": 3}, "stuck": 0, "waiting": 0, "failed": 0, "failed_kinds": []}


def _plan(rows: int, nodes: list[str], indexes: list[str]) -> dict[str, Any]:
    shape = {"nodes": nodes, "indexes": indexes}
    return {"rows": rows, "dialog": shape, "across": shape}


def test_a_scan_is_right_for_a_small_table_alone() -> None:
    """The planner's choice below 20,000 rows, a fault above."""
    assert stock.judge_plan(_plan(300, ["Seq Scan"], []), None).status == "ok"
    verdict = stock.judge_plan(_plan(120_000, ["Seq Scan"], []), None)
    assert verdict.status == "degraded" and "analyze" in verdict.hint
    assert stock.judge_plan(_plan(120_000, ["Bitmap Heap Scan"], ["key_idx"]), None).status == "ok"


def test_recall_is_marked_as_sampled() -> None:
    """Below 90 % degraded; the facts say that it is a sample, of when, and how large."""
    daily = {"at": NOW.isoformat()}
    recall = {"recall": 0.72, "worst": 0.5, "sampled": 5, "k": 10, "index_ms": 1.0, "exact_ms": 60.0}
    verdict = stock.judge_plan(_plan(120_000, ["Index Scan"], ["i"]), {**daily, "recall": recall})
    assert verdict.status == "degraded" and "sampled" in verdict.reason
    good = stock.judge_plan(_plan(9, ["Index Scan"], ["i"]), {**daily, "recall": {**recall, "recall": 0.99}})
    assert good.status == "ok" and good.facts["sampled_at"] == NOW.isoformat() and good.facts["vectors_sampled"] == 5


def test_usage_totals() -> None:
    """Absent where the database knows none; stale by mark or by comparison."""
    assert stock.judge_usage({}) is None
    assert stock.judge_usage({"usage_stale": False}).status == "ok"  # type: ignore[union-attr]
    assert stock.judge_usage({"usage_stale": True}).status == "degraded"  # type: ignore[union-attr]
    differs = {"usage_stale": False, "daily": {"at": NOW.isoformat(), "usage": {"equal": False, "differing": 2}}}
    assert stock.judge_usage(differs).status == "degraded"  # type: ignore[union-attr]


def test_expired_snapshots() -> None:
    """A few from this morning are no fault; many, or old ones, are; the demo data means to show some."""

    def judged(rows: int, hours: float, demo: bool = False) -> str:
        oldest = (NOW - timedelta(hours=hours)).isoformat() if rows else None
        counts = {"expired": {"rows": rows, "oldest": oldest}}
        verdict = stock.judge_expired(counts, only_demo=demo, now=NOW)
        assert verdict is not None
        return verdict.status

    assert stock.judge_expired({}, only_demo=False) is None
    assert judged(0, 0) == "ok" and judged(40, 5) == "ok"
    assert judged(1001, 5) == "degraded" and judged(1, 24 * 4) == "degraded"
    assert judged(1, 24 * 4, demo=True) == "ok"


def test_jobs() -> None:
    """Stuck, waiting too long, failed and not done since."""
    assert stock.judge_jobs({}) is None
    assert stock.judge_jobs({"jobs": JOBS}).status == "ok"  # type: ignore[union-attr]
    for name in ("stuck", "waiting", "failed"):
        verdict = stock.judge_jobs({"jobs": {**JOBS, name: 2, "failed_kinds": ["ingest"]}})
        assert verdict is not None and verdict.status == "degraded" and verdict.reason.startswith("2 jobs")
