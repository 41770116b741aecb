"""Todo: tasks of the operator, as the companion sees them."""

from __future__ import annotations

from collections.abc import Mapping
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
from core.companion.modules.answers import Params, alone, done, honest, part, refusal, seen, set_by
from core.companion.modules.todo_rules import RULES
from core.companion.records.records import Records
from core.companion.records.tasks import FILTERS, PRIORITIES

EVENTS = (
    *("TaskCreated", "TaskCompleted", "TaskUncompleted", "TaskDeleted", "TaskRestored", "TaskUpdated"),
    *("TaskRescheduled", "SubtasksUpdated", "ReminderSet", "ReminderDeleted"),
)
# Changes of a task that have nothing to do with whether it is done.
APART = ("TaskUpdated", "TaskRescheduled", "SubtasksUpdated", "ReminderSet", "ReminderDeleted")
COMPLETED = Measure(("TaskCompleted",), minus=("TaskUncompleted",))
NO_MATCH = "No open task has this in its title."
SHOWN = ("id", "title", "due_date", "priority")


def todo(records: Records) -> Module:
    return Module(
        name="todo",
        label="Tasks",
        content_class="personal",
        events=EVENTS,
        section=Section(
            records.tasks.day, {"total": 0, "completed": 0, "overdue": 0, "due_today": []}, stale_after=EVENTS
        ),
        tools=_tools(records),
        streaks=(StreakDef("todo.tasks", "todo", "A task completed", Measure(("TaskCompleted",))),),
        metrics=(
            MetricDef("todo.completed", "todo", "Tasks completed", "tasks", COMPLETED),
            MetricDef("todo.overdue", "todo", "Tasks overdue", "tasks", daily=records.figures.daily("overdue")),
        ),
        goal_templates=(
            GoalTemplate(
                "todo.five-a-day",
                "Five tasks a day",
                "todo",
                GoalMetric("event_count", ("TaskCompleted",), ("TaskUncompleted",)),
                GoalTarget(5, "day"),
            ),
            GoalTemplate(
                "todo.none-overdue",
                "No overdue task at the end of the day",
                "todo",
                GoalMetric("custom", name="todo.overdue"),
                GoalTarget(0, "day", "eq"),
            ),
        ),
        rules=RULES,
        extractors=(
            Extractor("dow", "TaskCompleted", "tasks are completed"),
            Extractor("time", "TaskCompleted", "tasks are completed"),
            Extractor("time", "TaskCreated", "tasks are made"),
        ),
        inverses=_inverses(records),
    )


def _tools(records: Records) -> tuple[ModuleTool, ...]:
    tasks = records.tasks

    def create(given: Params) -> ToolResult:
        task = tasks.create(
            given["title"],
            due_date=given.get("due_date"),
            priority=given.get("priority", "medium"),
            description=given.get("description"),
        )
        return done("The task is made.", task, part(task, *SHOWN))

    def complete(given: Params) -> ToolResult:
        task = tasks.complete(given["task_id"])
        return done("The task is completed.", task, part(task, *SHOWN))

    def complete_by_title(given: Params) -> ToolResult:
        found = tasks.complete_matching(given["title_match"])
        if not found:
            return ToolResult(False, NO_MATCH)
        shown = [part(task, *SHOWN) for task in found]
        return done(f"Completed: {len(found)}.", list(found), shown)

    def stats(_: Params) -> ToolResult:
        day = tasks.day(records.today())
        counts = {k: day[k] for k in ("total", "completed", "overdue")} | {"due_today": len(day["due_today"])}
        said = f"{counts['total']} open, {counts['overdue']} overdue, {counts['completed']} completed today."
        return done(said, counts, counts)

    def listed(given: Params) -> ToolResult:
        page = tasks.list(given.get("filter", "open"), limit=int(given.get("limit", 20)))
        shown = [part(task, *SHOWN, "overdue", "completed_at") for task in page.rows]
        return done(f"{len(page.rows)} of {page.total} tasks.", list(page.rows), {"total": page.total, "tasks": shown})

    def one(given: Params) -> Mapping[str, Any]:
        return part(tasks.get(given["task_id"]), *SHOWN, "description", "completed_at")

    def matching(given: Params) -> list[str]:
        return sorted(row["id"] for row in tasks.list("open", text=given["title_match"], limit=500).rows)

    def tool(name: str, label: str, says: str, run: Any, *parameters: Parameter, **more: Any) -> ModuleTool:
        reads = more.get("read_only", False)
        return ModuleTool(
            name=name,
            module="todo",
            label=label,
            description=says,
            execute=honest(run),
            action="own_day" if reads else "own_day_change",
            default_policy="auto" if reads else "propose",
            content_class="personal",
            parameters=parameters,
            **more,
        )

    return (
        tool(
            "create_task",
            "Create a task",
            "Make a task of the operator.",
            create,
            Parameter("title", "string", "What is to be done, on one line.", required=True, max_length=200),
            Parameter("due_date", "string", "The day it is due, YYYY-MM-DD.", pattern=r"\d{4}-\d{2}-\d{2}"),
            Parameter(
                "priority",
                "string",
                "How urgent it is; 0 to 3 is taken as well.",
                enum=PRIORITIES,
                default="medium",
                same_as={"0": "low", "1": "low", "2": "medium", "3": "high"},
            ),
            Parameter("description", "string", "More about it.", max_length=4000),
            reversible=True,
        ),
        tool(
            "complete_task",
            "Complete a task",
            "Mark one open task as completed.",
            complete,
            Parameter("task_id", "string", "The id of the task.", required=True),
            reversible=True,
            target=seen(one),
            refuse=refusal(lambda given: "This task is completed already." if one(given)["completed_at"] else None),
        ),
        tool(
            "complete_tasks_by_title",
            "Complete tasks by title",
            "Complete every open task whose title holds these words.",
            complete_by_title,
            Parameter("title_match", "string", "A part of the title, in any case.", required=True, max_length=200),
            reversible=True,
            target=seen(matching),
            refuse=refusal(lambda given: None if matching(given) else NO_MATCH),
        ),
        tool(
            "get_task_stats", "Task figures", "How many tasks are open, overdue and completed.", stats, read_only=True
        ),
        tool(
            "list_tasks",
            "List tasks",
            "Tasks by state, those due first.",
            listed,
            Parameter("filter", "string", "Which tasks.", enum=FILTERS, default="open"),
            Parameter("limit", "integer", "At most so many.", minimum=1, maximum=100, default=20),
            read_only=True,
        ),
    )


def _inverses(records: Records) -> Mapping[str, Any]:
    tasks = records.tasks

    def created(event: Params) -> ToolResult:
        alone(event)
        made = event["payload"]
        match = {"title": made["title"], "due_date": made.get("due_date"), "priority": made.get("priority", "medium")}
        tasks.delete(made["task_id"], match={**match, "completed_at": None})
        return done("The task is deleted.")

    def completed(event: Params) -> ToolResult:
        task = tasks.get(event["payload"]["task_id"])
        alone(event, *APART)
        closed = task["completed_at"] is not None
        if "since" not in event and closed and not set_by(task, "completed_at", event["actor"]):
            return ToolResult(False, "Somebody else completed this task since.")
        tasks.uncomplete(task["id"], completed_at=task["completed_at"])
        return done("The task is open again.")

    def uncompleted(event: Params) -> ToolResult:
        alone(event, *APART)
        tasks.complete(event["payload"]["task_id"])
        return done("The task is completed again.")

    def rescheduled(event: Params) -> ToolResult:
        moved = event["payload"]
        match = {"due_date": moved.get("new_date")}
        tasks.update(moved["task_id"], {"due_date": moved.get("old_date")}, match=match)
        return done("The task has its former day.")

    def deleted(event: Params) -> ToolResult:
        alone(event)
        tasks.restore(event["payload"]["task_id"])
        return done("The task is back.")

    def reminded(event: Params) -> ToolResult:
        records.reminders.delete(event["payload"]["reminder_id"])
        return done("The reminder is deleted.")

    return {
        "TaskCreated": honest(created),
        "TaskCompleted": honest(completed),
        "TaskUncompleted": honest(uncompleted),
        "TaskRescheduled": honest(rescheduled),
        "TaskDeleted": honest(deleted),
        "ReminderSet": honest(reminded),
    }
