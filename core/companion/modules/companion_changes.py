"""Reminders, goals, routines and nudges as tools: each is proposed, and all but a snooze can be taken back."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any, get_args

from core.access import acting
from core.companion.contract import Comparison, GoalMetric, GoalTarget, ModuleTool, Parameter, Period, ToolResult
from core.companion.converse.rituals.composer import STEPS_MOST
from core.companion.converse.rituals.opening import Routines
from core.companion.converse.rituals.ritual import Ritual
from core.companion.converse.rituals.rituals import TITLE_LIMIT, TRIGGERS, drafted
from core.companion.modules.answers import Params, alone, done, honest, part, refusal
from core.companion.records.records import Records
from core.companion.records.subtasks import MONTH_MIN
from core.companion.reflect.goals.draft import Draft, checked
from core.companion.reflect.opening import Reflection
from core.companion.reflect.pulse.store import ShownNudge
from core.errors import ConflictError, InputError, NotFound
from core.events.actor import Actor
from core.events.catalogue import EVENTS

DAY_MIN = 1_440
NO_DAY = "This task has no day to remind of."
TAKEN = "An active goal has this title already."


def changes(
    records: Records, mind: Callable[[], Reflection], routines: Callable[[], Routines], counted: Collection[str]
) -> tuple[ModuleTool, ...]:
    """`counted`: event types that a goal may count."""

    def remind(given: Params) -> ToolResult:
        made = records.reminders.set(given["task_id"], int(given["minutes_before"]))
        shown = part(made, "id", "task_id", "minutes_before")
        return done("The reminder is set.", made, shown)

    def no_reminder(given: Params) -> str | None:
        return NO_DAY if records.tasks.get(given["task_id"])["due_date"] is None else None

    def add_goal(given: Params) -> ToolResult:
        made = mind().goals.save(_actor(), _draft(given))
        if made.outcome == "duplicate":
            raise ConflictError(TAKEN)
        return done("The goal is made.", {"goal_id": made.id}, {"goal_id": made.id})

    def no_goal(given: Params) -> str | None:
        try:
            title = checked(_draft(given)).title.casefold()
        except InputError as fault:
            return fault.what
        return TAKEN if any(goal.title.casefold() == title for goal in mind().goals.active()) else None

    def add_ritual(given: Params) -> ToolResult:
        ritual = _ritual(given)
        routines().rituals.save(_actor(), ritual)
        return done("The routine is made.", {"ritual_id": ritual.id}, {"ritual_id": ritual.id})

    def no_ritual(given: Params) -> str | None:
        try:
            routines().rituals.check(_ritual(given))
        except InputError as fault:
            return f"{fault.what} ({fault.field})" if fault.field else fault.what
        return None

    def nudge(given: Params) -> ShownNudge:
        found = next((one for one in mind().nudges.open() if one.id == given["nudge_id"]), None)
        if found is None:
            raise NotFound("There is no such nudge now.")
        return found

    def snooze(given: Params) -> ToolResult:
        minutes = int(given.get("minutes", 60))
        if not mind().nudges.snooze(_actor(), nudge(given), timedelta(minutes=minutes)):
            raise ConflictError("Somebody answered this nudge meanwhile.")
        return done(f"The nudge comes back in {minutes} minutes.", {"minutes": minutes}, {"minutes": minutes})

    def tool(name: str, label: str, says: str, action: str, run: Any, refuse: Any, *given: Parameter) -> ModuleTool:
        return ModuleTool(
            name=name,
            module="companion",
            label=label,
            description=says,
            execute=honest(run),
            action=action,
            default_policy="propose",
            content_class="personal",
            parameters=given,
            reversible=name != "snooze_nudge",
            refuse=refusal(refuse),
        )

    return (
        tool(
            "create_reminder",
            "Set a reminder",
            "Remind of a task that has a day, so long before it.",
            "own_day_change",
            remind,
            no_reminder,
            Parameter("task_id", "string", "The id of the task.", required=True),
            Parameter("minutes_before", "integer", "Minutes before.", required=True, minimum=0, maximum=MONTH_MIN),
        ),
        tool(
            "create_goal",
            "Create a goal",
            "Count events of one kind in each day, week or month against a target.",
            "change_goals",
            add_goal,
            no_goal,
            Parameter("title", "string", "On one line.", required=True, max_length=TITLE_LIMIT),
            Parameter("event", "string", "What is counted.", required=True, enum=tuple(sorted(counted))),
            Parameter("value", "number", "The target.", required=True, minimum=0),
            Parameter("period", "string", "Of which period.", enum=get_args(Period), default="day"),
            Parameter(
                "comparison", "string", "At least, at most or exactly.", enum=get_args(Comparison), default="gte"
            ),
            Parameter("sum_field", "string", "A number of the event to add up, instead of counting.", max_length=60),
            Parameter("filter_field", "string", "Only events in which this field has filter_value.", max_length=60),
            Parameter("filter_value", "string", "The value of filter_field.", max_length=60),
        ),
        tool(
            "create_ritual",
            "Create a routine",
            "Make a routine of one to ten steps; each has a type, a label and a config.",
            "change_rituals",
            add_ritual,
            no_ritual,
            Parameter("title", "string", "On one line.", required=True, max_length=TITLE_LIMIT),
            Parameter("trigger", "string", "When it is for.", enum=TRIGGERS, default="manual"),
            Parameter("steps", "array", "The steps.", required=True, max_length=STEPS_MOST),
        ),
        tool(
            "snooze_nudge",
            "Snooze a nudge",
            "Put an open nudge off for a while.",
            "answer_nudges",
            snooze,
            lambda given: nudge(given) and None,
            Parameter("nudge_id", "string", "The id of the nudge.", required=True, max_length=200),
            Parameter("minutes", "integer", "For so long.", minimum=5, maximum=DAY_MIN, default=60),
        ),
    )


def inverses(
    mind: Callable[[], Reflection], routines: Callable[[], Routines]
) -> Mapping[str, Callable[[Mapping[str, Any]], ToolResult]]:
    """A goal or routine that was made goes again, unless somebody changed it since."""

    def goal(event: Mapping[str, Any]) -> ToolResult:
        found = next((g for g in mind().goals.list(0) if g.id == event["payload"]["goal_id"]), None)
        if found is None:
            raise NotFound("This goal is not there any more.")
        alone(event, "GoalReached", "GoalExceeded")
        mind().goals.change_status(_actor(), found, "deleted")
        return done("The goal is deleted.")

    def ritual(event: Mapping[str, Any]) -> ToolResult:
        if event["payload"].get("change") != "created":
            return ToolResult(False, "Only a routine that was made can be taken back.")
        found = routines().rituals.get(event["payload"]["ritual_id"])
        alone(event)
        routines().rituals.change_status(_actor(), found, "deleted")
        return done("The routine is deleted.")

    return {"GoalCreated": honest(goal), "RitualChanged": honest(ritual)}


def _actor() -> Actor:
    return acting()


def _draft(given: Params) -> Draft:
    event, summed = given["event"], given.get("sum_field")
    metric = GoalMetric(
        "event_sum" if summed else "event_count",
        (event,),
        filter_field=given.get("filter_field"),
        filter_value=given.get("filter_value"),
        sum_field=summed,
    )
    target = GoalTarget(float(given["value"]), given.get("period", "day"), given.get("comparison", "gte"))
    return Draft(str(uuid.uuid4()), given["title"], EVENTS[event].app_id, metric, target)


def _ritual(given: Params) -> Ritual:
    return drafted(given["title"], given.get("trigger", "manual"), given["steps"], origin="server")
