"""Verdicts on what piles up or wears off: index use, usage totals, expired snapshots, jobs. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from core.health.report import Verdict
from core.health.words import these

# Below this a sequential scan is what the planner should choose.
PLANNED_ROWS = 20_000
RECALL = 0.9
# Source: spec/companion.md, rule expired-snapshots, from its priority medium on.
EXPIRED_ROWS = 1_000
EXPIRED_AGE = timedelta(days=3)


def judge_plan(plan: Mapping[str, Any], daily: Mapping[str, Any] | None) -> Verdict:
    """How the two shapes of a search would run, and what the index finds of the true nearest (sampled, daily)."""
    rows = int(plan["rows"])
    dialog, across = plan["dialog"], plan["across"]
    facts: dict[str, Any] = {
        "rows": rows,
        "one_dialog": ", ".join([*dialog["indexes"], *(dialog["nodes"] if not dialog["indexes"] else ())]),
        "across_dialogs": ", ".join([*across["indexes"], *(across["nodes"] if not across["indexes"] else ())]),
    }
    recall = (daily or {}).get("recall") or {}
    if recall.get("recall") is not None:
        assert daily is not None
        named = {"sampled": "vectors", "k": "nearest", "worst": "recall_worst"}
        for name in ("recall", "worst", "sampled", "k", "index_ms", "exact_ms"):
            facts[f"{named.get(name, name)}_sampled"] = recall[name]
        facts["sampled_at"] = daily["at"]
    if rows >= PLANNED_ROWS and "Seq Scan" in dialog["nodes"]:
        return Verdict(
            "degraded",
            "A search in one dialog would read the whole table.",
            "Run `analyze client_memory_chunks`.",
            facts,
        )
    if facts.get("recall_sampled", 1) < RECALL:
        found = f"{facts['recall_sampled']:.1%} of the true nearest, sampled"
        return Verdict("degraded", f"The vector index finds {found}.", "Run `reindex index concurrently`.", facts)
    ways = "by the index of dialog keys" if dialog["indexes"] else "by a scan of the small table"
    tail = f"; recall {facts['recall_sampled']:.1%}, sampled" if "recall_sampled" in facts else ""
    return Verdict("ok", f"One dialog is read {ways}{tail}.", facts=facts)


def judge_usage(counts: Mapping[str, Any]) -> Verdict | None:
    """The usage totals: marked stale by a trigger that failed, or found to differ by the daily comparison."""
    if "usage_stale" not in counts:
        return None
    daily = counts.get("daily") or {}
    compared = daily.get("usage")
    facts: dict[str, Any] = {"stale": bool(counts["usage_stale"])}
    rebuild = "Rebuild them (desk_rebuild_usage)."
    if compared is not None:
        facts |= {"equal": compared["equal"], "differing": compared["differing"], "compared_at": daily["at"]}
        if not compared["equal"]:
            return Verdict(
                "degraded", f"{compared['differing']:,} hours differ from the rows they sum.", rebuild, facts
            )
    if counts["usage_stale"]:
        return Verdict("degraded", "Usage totals are marked stale and may lack rows.", rebuild, facts)
    return Verdict("ok", "Usage totals are current.", facts=facts)


def judge_expired(counts: Mapping[str, Any], *, only_demo: bool, now: datetime | None = None) -> Verdict | None:
    """Snapshots past their expiry that nobody deleted; pinned ones do not count."""
    if "expired" not in counts:
        return None
    rows = int(counts["expired"]["rows"])
    oldest = counts["expired"]["oldest"]
    facts = {"rows": rows, "oldest": oldest}
    if not rows or not oldest:
        return Verdict("ok", "No snapshot is past its expiry.", facts=facts)
    age = (now or datetime.now(UTC)) - datetime.fromisoformat(oldest)
    reason = f"{these(rows, 'snapshot is', 'snapshots are')} past expiry, the oldest by {_span(age)}."
    if only_demo:
        return Verdict("ok", f"{reason} The demo data means to show this.", facts=facts)
    if rows > EXPIRED_ROWS or age > EXPIRED_AGE:
        return Verdict("degraded", reason, "Preview the clean-up on the page Snapshots.", facts)
    return Verdict("ok", reason, facts=facts)


def judge_jobs(counts: Mapping[str, Any]) -> Verdict | None:
    """Jobs that nobody goes on with, and those that failed within a day and were not done since."""
    if "jobs" not in counts:
        return None
    jobs = counts["jobs"]
    facts = {name: jobs[name] for name in ("stuck", "waiting", "failed")} | {"by_state": jobs["by_state"]}
    where = "Look at the jobs on the page Operations."
    if jobs["stuck"]:
        return Verdict(
            "degraded",
            f"{these(jobs['stuck'], 'job has', 'jobs have')} been without a process for five minutes.",
            where,
            facts,
        )
    if jobs["waiting"]:
        return Verdict(
            "degraded", f"{these(jobs['waiting'], 'job has', 'jobs have')} waited for 15 minutes.", where, facts
        )
    if jobs["failed"]:
        kinds = ", ".join(jobs["failed_kinds"][:4])
        return Verdict(
            "degraded", f"{these(jobs['failed'], 'job', 'jobs')} failed in the last 24 hours ({kinds}).", where, facts
        )
    live = sum(n for state, n in jobs["by_state"].items() if state in ("queued", "running", "cancelling"))
    return Verdict("ok", f"{live:,} jobs at work." if live else "No job is waiting.", facts=facts)


def _span(age: timedelta) -> str:
    hours = age.total_seconds() / 3600
    return f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours"
