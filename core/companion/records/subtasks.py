"""What hangs on a task: steps and reminders."""

from __future__ import annotations

from core.companion.records import checks
from core.companion.records.ledger import Ledger, Row
from core.errors import ConflictError

TASKS = "companion_tasks"
STEPS = "companion_subtasks"
REMINDERS = "companion_task_reminders"
MONTH_MIN = 31 * 24 * 60


class Steps:
    """Steps of tasks. Each change tells how many there are and how many are done. Errors: as for tasks."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def add(self, task_id: str, title: str, *, id: str | None = None) -> Row:
        self._ledger.one(TASKS, task_id, "task")
        created, step = self._ledger.insert(STEPS, {"task_id": task_id, "title": checks.title(title, "title")}, id=id)
        if created:
            self._tell(task_id)
        return step

    def tick(self, id: str, done: bool = True) -> Row:
        """Done or open again. Errors: ConflictError where it is so already."""
        at = self._ledger.now() if done else None
        change = self._ledger.change(
            STEPS,
            id,
            "step",
            {"completed_at": at},
            empty=("deleted_at", "completed_at") if done else ("deleted_at",),
            filled=() if done else ("completed_at",),
        )
        self._tell(change.row["task_id"])
        return change.row

    def remove(self, id: str) -> Row:
        change = self._ledger.change(STEPS, id, "step", {"deleted_at": self._ledger.now()})
        self._tell(change.row["task_id"])
        return change.row

    def _tell(self, task_id: str) -> None:
        counts = self._ledger.read("companion_step_counts", task_id=task_id)
        self._ledger.emit("SubtasksUpdated", TASKS, task_id, task_id=task_id, **counts)


class Reminders:
    """Reminders of tasks that have a day. Errors: as for tasks."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def set(self, task_id: str, minutes_before: int, *, id: str | None = None) -> Row:
        minutes = int(checks.amount(minutes_before, "minutes_before", most=MONTH_MIN))
        if self._ledger.one(TASKS, task_id, "task")["due_date"] is None:
            raise ConflictError("This task has no day to remind of.")
        row = {"task_id": task_id, "minutes_before": minutes}
        created, made = self._ledger.insert(REMINDERS, row, id=id)
        if created:
            names = {"reminder_id": made["id"], "minutes_before": minutes, "type": made["type"]}
            self._ledger.emit("ReminderSet", TASKS, task_id, task_id=task_id, **names)
        return made

    def delete(self, id: str) -> Row:
        row = self._ledger.change(REMINDERS, id, "reminder", {"deleted_at": self._ledger.now()}).row
        self._ledger.emit("ReminderDeleted", TASKS, row["task_id"], task_id=row["task_id"], reminder_id=row["id"])
        return row
