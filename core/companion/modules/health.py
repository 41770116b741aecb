"""Health: whether everything works, as the companion sees it. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from core.companion.contract import (
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    ModuleTool,
    Parameter,
    Section,
    StreakDef,
    ToolResult,
)
from core.companion.modules.answers import Params, done
from core.companion.modules.desk import Desk
from core.companion.modules.health_rules import RULES
from core.health.report import ASIDE, HealthReport

EVENTS = (
    *("HealthChecked", "HealthDegraded", "HealthRecovered", "NeedsMigrationDetected", "DestructiveMigrationFlagged"),
    *("MigrationsApplied", "ChainVerified"),
)
EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("incidents", "recoveries", "checks", "checks_failed"), 0),
    **{"status": "unknown", "components": {}, "uptime_percent": None, "last_check": None},
    **{"pending_migrations": [], "destructive_migrations": {}},
}
AGE_S = 90.0  # a little more than the monitor's pause: a look at the day asks nothing itself
# The parts of HealthChecked, and whose state each is.
PARTS = {"auth_ok": "auth", "chunks_ok": "database", "rpc_ok": "search", "snapshots_ok": "expired", "usage_ok": "usage"}


def health(desk: Desk) -> Module:
    def degraded(since: date, until: date) -> Mapping[date, float]:
        first, last = desk.period(since).start, desk.period(until).end
        answer: Any = desk.read("companion_health_days", since=first, until=last, tz=desk.deps.zone.key)
        return {date.fromisoformat(day): float(minutes) for day, minutes in answer.items()}

    return Module(
        name="health",
        label="Health",
        content_class="personal",
        events=EVENTS,
        section=Section(lambda day: section(desk, day), EMPTY, stale_after=EVENTS),
        tools=_tools(desk),
        streaks=(
            StreakDef(
                "health.green",
                "health",
                "All components well",
                Measure(("HealthChecked",), unless=("HealthDegraded",)),
                closing=True,
            ),
        ),
        metrics=(
            MetricDef("health.degraded_minutes", "health", "Minutes not well", "min", daily=degraded),
            MetricDef("health.checks_failed", "health", "Checks failed", "checks",
                      Measure(("HealthChecked",), where={"ok": "false"})),
            MetricDef("health.incidents", "health", "Incidents", "incidents", Measure(("HealthDegraded",)),
                      trivial_with=("health.degraded_minutes",)),
        ),
        goal_templates=(
            GoalTemplate(
                "health.checked",
                "Health looked at 24 times a day",
                "health",
                GoalMetric("event_count", ("HealthChecked",)),
                GoalTarget(24, "day", "gte"),
            ),
        ),
        rules=RULES,
        extractors=(
            Extractor("time", "HealthDegraded", "something breaks"),
            Extractor("dow", "HealthDegraded", "something breaks"),
        ),
    )  # fmt: skip


def section(desk: Desk, day: date) -> Mapping[str, Any]:
    """The state of everything, and a day's incidents. Errors: DatabaseError."""
    period = desk.period(day)
    counts: Any = desk.read("companion_health_day", **{"from": period.start}, to=period.end)
    report = desk.deps.health.report(max_age_s=AGE_S)
    overall = desk.deps.monitor.timeline.uptime().get("overall", ())
    share = next((one.share for one in overall if one.hours == 24), None)
    states = {c.name: c.status for c in report.components}
    migrations = next((c.facts for c in report.components if c.name == "migrations"), {})
    return {
        **counts,
        "status": "needs_migration" if states.get("schema") == "down" else report.status,
        "components": states,
        "uptime_percent": None if share is None else round(100 * share, 2),
        "last_check": report.checked_at.isoformat(),
        "pending_migrations": list(migrations.get("pending", ())),
        "destructive_migrations": dict(migrations.get("destructive", {})),
    }


def tell_checked(desk: Desk, report: HealthReport) -> None:
    """HealthChecked, of a report; parts that this installation does not have are left out."""
    of = {c.name: c for c in report.components}
    parts = {part: of[name].status not in ("down", "unknown") for part, name in PARTS.items() if name in of}
    latency = max((c.latency_ms for c in report.components), default=0.0)
    desk.deps.events.emit("HealthChecked", {"ok": report.status == "ok", "latency_ms": latency, **parts})


def _tools(desk: Desk) -> tuple[ModuleTool, ...]:
    deps = desk.deps

    def run_health_check(_: Params) -> ToolResult:
        report = deps.health.report()
        tell_checked(desk, report)
        wrong = [c.name for c in report.components if c.status != "ok" and c.name not in ASIDE]
        facts = {"status": report.status, "components": {c.name: c.status for c in report.components}}
        words = "Every component answers." if not wrong else f"Not well: {', '.join(wrong)}."
        return done(words, {**facts, "reason": report.reason}, facts)

    def health_history(given: Params) -> ToolResult:
        found = deps.monitor.timeline.history(given["hours"])
        rows = [
            {"component": s.component, "status": s.status, "from": s.starts.isoformat(), "to": s.ends.isoformat()}
            for s in found.segments
            if s.status != "ok"
        ]
        return done(f"{len(rows):,} times a component was not well.", rows, rows[:100])

    def list_migrations(_: Params) -> ToolResult:
        found = next((c for c in deps.health.report(max_age_s=AGE_S).components if c.name == "migrations"), None)
        if found is None or "applied" not in found.facts:
            return ToolResult(False, "The history of migrations cannot be read now.")
        facts = {name: found.facts.get(name) for name in ("applied", "pending", "destructive", "foreign")}
        return done(found.reason, facts, facts)

    def apply_migration(_: Params) -> ToolResult:
        return ToolResult(False, "The key of this dashboard cannot change the schema. Run `python -m core migrate`.")

    read: dict[str, Any] = {"module": "health", "action": "health", "content_class": "personal", "read_only": True,
                            "default_policy": "auto"}  # fmt: skip
    return (
        ModuleTool(
            "run_health_check", label="Check everything now", execute=run_health_check,
            description="Ask every component whether it works.", **read,
        ),
        ModuleTool(
            "health_history", label="What was not well", execute=health_history,
            description="When which component was not well.",
            parameters=(Parameter("hours", "integer", "How far back.", minimum=1, maximum=720, default=24),), **read,
        ),
        ModuleTool(
            "list_migrations", label="Migrations", execute=list_migrations,
            description="Migrations that are applied, pending, or would empty a table.", **read,
        ),
        ModuleTool(
            "apply_migration", "health", "Apply a migration", "Change the schema; for people, on the command line.",
            apply_migration, "migrate", "deny", "personal",
            (Parameter("name", "string", "The file of the migration.", required=True, max_length=200),),
        ),
    )  # fmt: skip
