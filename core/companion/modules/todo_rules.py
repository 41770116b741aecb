"""Rules about tasks, and those that sum up a day, mornings and evenings. Source: spec/companion.md section 6."""

from __future__ import annotations

from datetime import datetime, timedelta

from core.companion.contract import At, Nudge, Rule, RuleContext

MANY_OVERDUE = 3


def counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def end_of_day(now: datetime) -> datetime:
    """The next local midnight."""
    return datetime.combine(now.date() + timedelta(1), datetime.min.time(), now.tzinfo)


def overdue(ctx: RuleContext) -> Nudge | None:
    late = ctx.day["todo"]["overdue"]
    if not late:
        return None
    return Nudge(
        id=f"overdue-{ctx.today}-{15 if ctx.hour >= 15 else 10}",
        type="overdue_tasks",
        title="Tasks are overdue",
        body=f"{counted(late, 'task is', 'tasks are')} past the day on which it should be done."
        if late == 1
        else f"{counted(late, 'task is', 'tasks are')} past the day on which they should be done.",
        priority="high" if late > MANY_OVERDUE else "medium",
        module="todo",
        expires_at=end_of_day(ctx.now),
        action_label="Open tasks",
        action_route="todo",
    )


def morning(ctx: RuleContext) -> Nudge:
    tasks, appointments = ctx.day["todo"], ctx.day["calendar"]["total"]
    due, late = len(tasks["due_today"]), tasks["overdue"]
    parts = [
        *([f"{counted(due, 'task', 'tasks')} due today"] if due else []),
        *([f"{late} overdue"] if late else []),
        *([counted(appointments, "appointment", "appointments")] if appointments else []),
    ]
    return Nudge(
        id=f"morning-{ctx.today}",
        type="morning_summary",
        title="Today",
        body=f"{', '.join(parts)}." if parts else "Nothing is due today and no appointment is noted.",
        priority="medium" if late else "low",
        module="todo",
        expires_at=end_of_day(ctx.now),
        action_label="Open routines",
        action_route="routines",
    )


def evening(ctx: RuleContext) -> Nudge:
    tasks, drinks, food = ctx.day["todo"], ctx.day.get("drink", {}), ctx.day.get("food", {})
    parts = [f"{counted(tasks['completed'], 'task', 'tasks')} completed"]
    if water := drinks.get("water"):
        parts.append(f"{water['ml']:,.0f} of {water['goal']:,.0f} ml water")
    if food:
        parts.append(counted(food["meals"], "meal", "meals"))
    reached = [goal for goal in ctx.goals if getattr(goal, "reached", False)]
    if reached:
        parts.append(f"{counted(len(reached), 'goal', 'goals')} reached")
    return Nudge(
        id=f"evening-{ctx.today}",
        type="evening_reflection",
        title="The day in figures",
        body=f"{', '.join(parts)}.",
        priority="low",
        module="todo",
        expires_at=end_of_day(ctx.now),
        action_label="Open routines",
        action_route="routines",
    )


RULES = (
    Rule(
        "overdue-tasks",
        "Overdue tasks",
        "At 10:00 and 15:00: tasks that are past their day; more than three are urgent.",
        "todo",
        At(((10, 0), (15, 0))),
        overdue,
        needs=("todo",),
        resolves=lambda ctx, _: ctx.day["todo"]["overdue"] == 0,
    ),
    Rule(
        "morning-summary",
        "Morning summary",
        "At 8:00: what is due, what is overdue, which appointments there are.",
        "todo",
        At(((8, 0),)),
        morning,
        needs=("todo", "calendar"),
    ),
    Rule(
        "evening-reflection",
        "Evening reflection",
        "At 21:00: what the day came to.",
        "todo",
        At(((21, 0),)),
        evening,
        needs=("todo", "drink", "food"),
    ),
)
