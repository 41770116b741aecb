"""Plans that need no model: what to look at, and what to propose by what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.plan import Plan, PlanError, PlannedStep
from core.companion.act.missions.situation import Done, Planned, Situation

Look = Callable[[Situation], Plan]


@dataclass(frozen=True)
class RulePlan:
    """One such plan. `title`, `objective` and `cadence` fill a new form."""

    id: str
    label: str
    title: str
    objective: str
    cadence: Cadence
    plan: Look


class RulePlanner:
    """The plan that the mission names."""

    def plan(self, situation: Situation) -> Planned:
        """Errors: PlanError where there is no such plan, or it uses a tool that an AI may not."""
        found = RULE_PLANS.get(situation.mission.template or "")
        if found is None:
            raise PlanError("this version has no such plan by rules")
        situation.at("parsing-response")
        plan = found.plan(situation)
        allowed = {tool.name for tool in situation.tools}
        for n, step in enumerate(plan.steps, start=1):
            if step.tool not in allowed:
                raise PlanError(f"the tool {step.tool} is not allowed (step {n})")
        return Planned(plan, "rules")


def _cleanup(now: Situation) -> Plan:
    if now.round == 1:
        return Plan(
            "Counts what has expired.", (_step("Count expired snapshots", "preview_cleanup", "It comes first."),)
        )
    counted = _of(now.results, "preview_cleanup")
    if not counted or now.round > 2:
        return Plan("The expired snapshots could not be counted." if not counted else "")
    many = int(counted.get("expected_count") or 0)
    if not many:
        return Plan("No snapshot is expired.")
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in (counted.get("by_type") or {}).items())
    wanted = {"preview_id": counted["preview_id"], "expected_count": many}
    why = (
        f"{many:,} snapshots are past their expiry ({kinds})."
        if kinds
        else f"{many:,} snapshots are past their expiry."
    )
    return Plan(why, (_step("Delete what has expired", "run_cleanup", why, wanted),))


def _morning(now: Situation) -> Plan:
    if now.round == 1:
        looks = ("run_health_check", "snapshot_status", "usage_summary", "get_task_stats", "memory_status")
        given = {"usage_summary": {"range": "yesterday"}}
        return Plan(
            "Looks at everything once.",
            tuple(_step(_WORDS[tool], tool, "The morning check.", given.get(tool)) for tool in looks),
        )
    health = _of(now.results, "run_health_check")
    wrong = sorted(name for name, state in (health.get("components") or {}).items() if state in ("down", "degraded"))
    said = " ".join(done.message for done in now.results)
    if now.round > 2 or not wrong:
        return Plan(said)
    named = ", ".join(wrong)
    task = {"title": f"Look at {named}"[:200], "priority": "high"}
    return Plan(said, (_step("Have somebody look", "create_task", f"Not well this morning: {named}.", task),))


def _freshness(now: Situation) -> Plan:
    if now.round == 1:
        return Plan(
            "Looks for chunks of other models.", (_step("Look at the memory", "memory_status", "It comes first."),)
        )
    if now.round > 2:
        return Plan("")
    if not _of(now.results, "memory_status"):
        return Plan("The memory could not be read.")
    why = "Chunks of another model are found by no search of the model in use."
    return Plan(why, (_step("Embed them again", "reembed_chunks", why),))


def _budget(now: Situation) -> Plan:
    if now.round == 1:
        looks = (("today", "model"), ("week", "phase"), ("month", "day"))
        return Plan(
            "Adds up what the calls used.",
            tuple(
                _step(
                    f"Usage: {range}, by {group}",
                    "usage_summary",
                    "The weekly look.",
                    {"range": range, "group_by": group},
                )
                for range, group in looks
            ),
        )
    return Plan(" ".join(done.message for done in now.results))


def _of(results: Sequence[Done], tool: str) -> Mapping[str, Any]:
    found = next((done.data for done in results if done.tool == tool and done.success), None)
    return found if isinstance(found, Mapping) else {}


def _step(summary: str, tool: str, why: str, params: Mapping[str, Any] | None = None) -> PlannedStep:
    return PlannedStep(summary, tool, params or {}, why)


_WORDS = {
    "run_health_check": "Check every component",
    "snapshot_status": "Snapshots of today",
    "usage_summary": "Usage of yesterday",
    "get_task_stats": "Tasks",
    "memory_status": "Memory",
}
RULE_PLANS: Mapping[str, RulePlan] = {
    plan.id: plan
    for plan in (
        RulePlan(
            "weekly_cleanup",
            "Clean-up of expired snapshots",
            "Weekly clean-up",
            "Count expired snapshots, and propose to delete exactly these.",
            Cadence("weekly", hour=9, weekday=0),
            _cleanup,
        ),
        RulePlan(
            "morning_check",
            "Morning check",
            "Morning check",
            "Look at health, snapshots, usage, tasks and memory; propose a task for what is not well.",
            Cadence("daily", hour=8),
            _morning,
        ),
        RulePlan(
            "stale_vectors",
            "Chunks of another model",
            "Vectors up to date",
            "Propose to embed again what another model embedded.",
            Cadence("weekly", hour=7, weekday=6),
            _freshness,
        ),
        RulePlan(
            "usage_review",
            "Review of usage",
            "Weekly usage review",
            "Add up tokens and cost of the day, the week and the month.",
            Cadence("weekly", hour=17, weekday=4),
            _budget,
        ),
    )
}
