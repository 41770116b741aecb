"""The rules that belong to no module: streaks, goals, correlations. Source: spec/companion.md section 6."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from core.companion.contract import At, Nudge, OnEvent, Rule, RuleContext

LONG_STREAK_DAYS = 7
NEARLY, USED = 60.0, 80.0  # percent
NAMED = 3
NEWS_DAYS = {
    "day": 1,
    "week": 7,
    "month": 31,
}  # the present period and the one before; older ones the calendar caught up with
MODULE = "companion"


def streak_warning(ctx: RuleContext) -> Nudge | None:
    """The longest of those that end today unless something happens."""
    risky = [streak for streak in ctx.streaks if streak.status == "at_risk"]
    if not risky:
        return None
    longest = max(risky, key=lambda streak: (streak.current, streak.id))
    days = "day" if longest.current == 1 else "days"
    more = len(risky) - 1
    others = f" {more} more {'is' if more == 1 else 'are'} at risk." if more else ""
    return Nudge(
        id=f"streak-warning-{ctx.today}",
        type="streak_warning",
        title=f"{longest.label}: {longest.current} {days} at risk",
        body=f"The streak ends unless it is kept up today.{others}",
        priority="high" if longest.current > LONG_STREAK_DAYS else "medium",
        module=longest.module,
        expires_at=_midnight(ctx),
        action_label="See streaks",
        action_route="insights",
    )


def goal_reached(ctx: RuleContext) -> Nudge | None:
    """Once per goal and period."""
    assert ctx.event is not None
    said = ctx.event.payload
    start = date.fromisoformat(str(said["period_start"]))
    if (ctx.today - start).days > NEWS_DAYS.get(str(said["period"]), 1):
        return None
    return Nudge(
        id=f"goal-reached-{said['goal_id']}-{start}",
        type="goal_reached",
        title=f"Goal reached: {said.get('title', 'a goal')}",
        body=f"{_figure(said['value'])} of {_figure(said['target'])} this {said['period']}."
        if start == ctx.today
        else f"{_figure(said['value'])}, the target {_figure(said['target'])}, in the {said['period']} of {start}.",
        priority="low",
        module=MODULE,
        expires_at=ctx.now + timedelta(days=1),
        action_label="See goals",
        action_route="goals",
    )


def goal_progress(ctx: RuleContext) -> Nudge | None:
    """Daily goals that are nearly reached, and limits that are nearly used up."""
    parts = [words for goal in ctx.goals if (words := _progress(goal))]
    if not parts:
        return None
    more = f", and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
    return Nudge(
        id=f"goal-progress-{ctx.today}",
        type="goal_progress",
        title="Goals of today",
        body=f"{'; '.join(parts[:NAMED])}{more}.",
        priority="medium",
        module=MODULE,
        expires_at=_midnight(ctx),
        action_label="See goals",
        action_route="goals",
    )


def correlation_insight(ctx: RuleContext) -> Nudge | None:
    """The strongest that was not said in the last 30 days."""
    said = {id.rpartition("/")[0] for id in ctx.shown if id.startswith("insight:")}
    new = [found for found in ctx.correlations if f"insight:{found.id}" not in said]
    if not new:
        return None
    strongest = max(new, key=lambda found: (abs(found.coefficient), found.id))
    return Nudge(
        id=f"insight:{strongest.id}/{ctx.today}",
        type="correlation_insight",
        title="Two things move together",
        body=f"{strongest.sentence} (r {strongest.coefficient:+.2f}, p {strongest.p_value:.3f}, "
        f"{strongest.sample_size} days)",
        priority="low",
        module=MODULE,
        expires_at=ctx.now + timedelta(days=6),
        action_label="See insights",
        action_route="insights",
    )


def mission_paused(ctx: RuleContext) -> Nudge | None:
    """Once per run that was one failure too many."""
    assert ctx.event is not None
    said = ctx.event.payload
    if not said.get("paused"):
        return None
    return Nudge(
        id=f"mission-paused-{said['iteration_id']}",
        type="mission_paused",
        title="A mission was paused",
        body=f"It failed {said.get('failures', 'several')} times in a row. Look at its last run, then resume it.",
        priority="high",
        module=MODULE,
        action_label="See missions",
        action_route="missions",
    )


GENERAL_RULES = (
    Rule(
        "streak-warning",
        "Streak at risk",
        "At 18:00: the longest streak that ends today.",
        MODULE,
        At(((18, 0),)),
        streak_warning,
        resolves=lambda ctx, _: all(streak.status != "at_risk" for streak in ctx.streaks),
    ),
    Rule(
        "goal-reached",
        "Goal reached",
        "When a goal is reached, once per period.",
        MODULE,
        OnEvent(("GoalReached",)),
        goal_reached,
    ),
    Rule(
        "goal-progress",
        "Goals nearly reached",
        "At 17:00: daily goals at 60 to 99 %, limits of which 80 % are used.",
        MODULE,
        At(((17, 0),)),
        goal_progress,
    ),
    Rule(
        "mission-paused",
        "Mission paused",
        "When a mission failed so often that it was paused.",
        MODULE,
        OnEvent(("MissionIterationFinished",)),
        mission_paused,
        learnable=False,
    ),
    Rule(
        "correlation-insight",
        "New correlation",
        "Mondays at 9:00: the strongest that was not said in 30 days.",
        MODULE,
        At(((9, 0),), weekday=0),
        correlation_insight,
    ),
)


def insight_of(nudge: Nudge) -> str | None:
    """The correlation that a nudge is about."""
    if nudge.type != "correlation_insight":
        return None
    return nudge.id.removeprefix("insight:").rpartition("/")[0]


def _progress(goal: Any) -> str | None:
    if goal.status != "active" or goal.target.period != "day" or goal.value is None:
        return None
    if goal.target.comparison == "gte" and NEARLY <= goal.percent < 100:
        return f"{goal.title}: {_figure(goal.remaining)} to go"
    if goal.target.comparison == "lte" and goal.percent >= USED:
        over = goal.remaining < 0
        return f"{goal.title}: {_figure(abs(goal.remaining))} {'over the limit' if over else 'left'}"
    return None


def _figure(value: Any) -> str:
    return f"{float(value):,.2f}".rstrip("0").rstrip(".")


def _midnight(ctx: RuleContext) -> datetime:
    return datetime.combine(ctx.today + timedelta(days=1), datetime.min.time(), ctx.zone)
