"""Tasks: made, done, moved, taken back. A change that changes nothing emits nothing; a done task is not done again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from core.companion.records import checks
from core.companion.records.ledger import Change, Ledger, Row
from core.errors import ConflictError, InputError

TABLE = "companion_tasks"
PRIORITIES = ("low", "medium", "high")
FILTERS = ("open", "completed", "overdue", "today", "all")


@dataclass(frozen=True)
class TaskPage:
    """Rows of SQL function companion_task_list, and how many there are in all."""

    rows: tuple[Row, ...]
    total: int


class Tasks:
    """Thread-safe. Errors: InputError naming the field, NotFound, ConflictError, DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def create(
        self,
        title: str,
        *,
        due_date: date | str | None = None,
        priority: str = "medium",
        description: str | None = None,
        project_id: str | None = None,
        label_ids: Sequence[str] = (),
        id: str | None = None,
    ) -> Row:
        """The task; an id that is there already is that task, unchanged."""
        row = {
            "title": checks.title(title, "title"),
            "due_date": checks.day(due_date, "due_date") if due_date else None,
            "priority": checks.choice(priority, "priority", PRIORITIES),
            "description": checks.text(description, "description"),
            "project_id": project_id,
            "label_ids": list(label_ids),
        }
        created, task = self._ledger.insert(TABLE, row, id=id)
        if created:
            named = {k: task[k] for k in ("title", "due_date", "priority", "project_id")}
            self._emit("TaskCreated", task, **named, label_ids=task["label_ids"] or None)
        return task

    def get(self, id: str) -> Row:
        return self._ledger.one(TABLE, id, "task")

    def complete(self, id: str) -> Row:
        """Errors: ConflictError where it is completed already."""
        try:
            done = self._change(id, {"completed_at": self._ledger.now()}, empty=("deleted_at", "completed_at"))
        except ConflictError:
            raise ConflictError("This task is completed already.") from None
        due = done.row["due_date"]
        late = due is not None and date.fromisoformat(due) < self._ledger.today()
        facts = {"title": done.row["title"], "project_id": done.row["project_id"], "priority": done.row["priority"]}
        self._emit("TaskCompleted", done.row, **facts, was_overdue=late)
        return done.row

    def complete_matching(self, part: str) -> tuple[Row, ...]:
        """Completes the open tasks whose title holds `part`; those that somebody else was quicker with are left out."""
        wanted = checks.title(part, "title_match")
        done = []
        for row in self.list("open", text=wanted, limit=500).rows:
            try:
                done.append(self.complete(row["id"]))
            except ConflictError:
                continue
        return tuple(done)

    def uncomplete(self, id: str, *, completed_at: str | None = None) -> Row:
        """Opens a task again; with `completed_at` only where that is still how it was completed."""
        match = {"completed_at": completed_at} if completed_at else None
        try:
            done = self._change(id, {"completed_at": None}, filled=("completed_at",), match=match)
        except ConflictError:
            raise ConflictError("This task is open, or was completed anew.") from None
        self._emit("TaskUncompleted", done.row, title=done.row["title"])
        return done.row

    def update(self, id: str, given: Mapping[str, Any], *, match: Row | None = None) -> Change:
        """Sets title, description, due_date or priority; a new day emits TaskRescheduled as well."""
        if unknown := sorted(set(given) - {"title", "description", "due_date", "priority"}):
            raise InputError(f"A task has no field {unknown[0]} that can be set.", field=unknown[0])
        read = {
            "title": lambda v: checks.title(v, "title"),
            "description": lambda v: checks.text(v, "description"),
            "due_date": lambda v: checks.day(v, "due_date") if v else None,
            "priority": lambda v: checks.choice(v, "priority", PRIORITIES),
        }
        done = self._change(id, {name: read[name](value) for name, value in given.items()}, match=match)
        if done:
            self._emit("TaskUpdated", done.row, fields=list(done.fields))
        if "due_date" in done.fields:
            days = {"old_date": done.before["due_date"], "new_date": done.row["due_date"]}
            self._emit("TaskRescheduled", done.row, title=done.row["title"], **days)
        return done

    def delete(self, id: str, *, match: Row | None = None) -> Row:
        done = self._change(id, {"deleted_at": self._ledger.now()}, match=match)
        self._emit("TaskDeleted", done.row, title=done.row["title"])
        return done.row

    def restore(self, id: str) -> Row:
        """Errors: ConflictError where it is not deleted."""
        done = self._change(id, {"deleted_at": None}, empty=(), filled=("deleted_at",))
        self._emit("TaskRestored", done.row, title=done.row["title"])
        return done.row

    def list(self, filter: str = "open", text: str | None = None, limit: int = 20, offset: int = 0) -> TaskPage:
        """`filter` is one of FILTERS; `text` is looked for in titles, as it stands, whatever its case."""
        checks.choice(filter, "filter", FILTERS)
        now = self._ledger
        answer = now.read(
            "companion_task_list",
            filter=filter,
            today=now.today(),
            tz=now.zone.key,
            text=text,
            limit=limit,
            offset=offset,
        )
        return TaskPage(tuple(answer["rows"]), int(answer["total"]))

    def day(self, day: date) -> Mapping[str, Any]:
        """The section of the day snapshot. Source: spec/companion.md section 2."""
        found: Mapping[str, Any] = self._ledger.read("companion_todo_day", day=day, tz=self._ledger.zone.key)
        return found

    def _change(self, id: str, values: Row, **conditions: Any) -> Change:
        return self._ledger.change(TABLE, id, "task", values, **conditions)

    def _emit(self, type: str, task: Row, /, **payload: Any) -> None:
        self._ledger.emit(type, TABLE, task["id"], task_id=task["id"], **payload)
