"""Goals, streaks, what waits for a decision, and what repeats."""

from __future__ import annotations

from core.companion.converse.rules_tier.answer import Part, RuleAnswer, Table, counted
from core.companion.converse.rules_tier.desk import Sources
from core.companion.converse.rules_tier.intents import Intent
from core.companion.reflect.goals.goal import Goal

MOST = 10
SIGN = {"gte": "", "lte": "at most ", "eq": "exactly "}


def goals(given: Sources, intent: Intent) -> RuleAnswer:
    """Every active goal, and which of them are behind: not reached yet, or a limit that is passed."""
    active = [goal for goal in given.goals() if goal.status == "active"]
    source = given.source("goals", "present periods")
    if not active:
        return RuleAnswer("goals", "There is no active goal.", (Part(source, ("0 active goals",)),))
    behind = [goal for goal in active if _behind(goal)]
    says = f"{len(behind)} of {len(active)} active goals {'is' if len(behind) == 1 else 'are'} behind."
    ordered = [*behind, *(goal for goal in active if goal not in behind)]
    rows = tuple(
        (
            goal.title,
            "unknown" if goal.value is None else f"{goal.value:g}",
            f"{SIGN[goal.target.comparison]}{goal.target.value:g}",
            goal.target.period,
            _state(goal),
        )
        for goal in ordered
    )
    table = Table(("goal", "value", "target", "period", "state"), rows, source)
    return RuleAnswer("goals", says, table=table, suggestions=("How are my streaks?", "How was my week?"))


def streaks(given: Sources, intent: Intent) -> RuleAnswer:
    """Every streak that ever counted a day, those at risk first."""
    order = {"at_risk": 0, "active": 1, "broken": 2}
    begun = sorted((s for s in given.streaks() if s.last_active), key=lambda s: (order[s.status], -s.current, s.id))
    source = given.source("insights", "streaks")
    if not begun:
        return RuleAnswer("streaks", "No streak has begun.", (Part(source, ("0 streaks",)),))
    counts = {status: sum(s.status == status for s in begun) for status in order}
    says = f"{counts['active']} active, {counts['at_risk']} at risk, {counts['broken']} broken."
    rows = tuple(
        (
            s.label,
            s.current,
            s.longest,
            s.status.replace("_", " "),
            s.last_active.isoformat() if s.last_active else None,
        )
        for s in begun
    )
    table = Table(("streak", "days", "record", "state", "last day"), rows, source)
    return RuleAnswer("streaks", says, table=table, suggestions=("Which goals are behind?", "How was my week?"))


def proposals(given: Sources, intent: Intent) -> RuleAnswer:
    """What waits for a person."""
    page = given.proposals.list("pending", limit=MOST)
    source = given.source("workbench", "waiting")
    if not page.rows:
        return RuleAnswer("proposals", "No proposal waits.", (Part(source, ("0 proposals",)),))
    waits = "proposal waits" if page.total == 1 else "proposals wait"
    rows = tuple(
        (
            one.tool_name.replace("_", " "),
            one.module,
            one.actor.display_name,
            f"{one.created_at.astimezone(given.zone):%Y-%m-%d %H:%M}",
            f"{one.expires_at.astimezone(given.zone):%Y-%m-%d %H:%M}" if one.expires_at else None,
        )
        for one in page.rows
    )
    says = f"{page.total} {waits} for a decision." + (f" The latest {MOST}:" if page.total > MOST else "")
    return RuleAnswer("proposals", says, table=Table(("what", "part", "who", "since", "until"), rows, source))


def patterns(given: Sources, intent: Intent) -> RuleAnswer:
    """Facts that were learned, and days that move together."""
    facts, pairs = given.facts()[:MOST], given.correlations()[:MOST]
    parts = []
    if facts:
        lines = tuple(f"{fact.content} ({fact.confidence:.0%} sure)" for fact in facts)
        parts.append(Part(given.source("insights", "facts"), lines))
    if pairs:
        lines = tuple(f"{pair.sentence} (r {pair.coefficient:+.2f}, {pair.sample_size} days)" for pair in pairs)
        computed = max(pair.computed_at for pair in pairs)
        parts.append(Part(given.source("insights", "correlations", computed), lines))
    if not parts:
        says = "Nothing repeats clearly enough yet: facts need a few weeks, correlations 14 days."
        return RuleAnswer("patterns", says)
    return RuleAnswer(
        "patterns", f"{counted(len(facts), 'fact')} and {counted(len(pairs), 'correlation')}.", tuple(parts)
    )


def _behind(goal: Goal) -> bool:
    if goal.target.comparison == "lte":
        return goal.met is False
    return not goal.reached and not goal.met


def _state(goal: Goal) -> str:
    if goal.value is None:
        return "unknown"
    if goal.target.comparison == "lte":
        return f"kept, {goal.remaining:g} left" if goal.met else f"over by {-goal.remaining:g}"
    if not _behind(goal):
        return "reached"
    return f"{goal.remaining:g} missing" if goal.target.comparison == "gte" else "not met"
