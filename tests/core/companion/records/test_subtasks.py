"""Steps and reminders of tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from core.companion.records.records import Records
from core.errors import ConflictError, InputError, NotFound

Told = Callable[..., list[Any]]


def test_steps_are_counted(records: Records, told: Told) -> None:
    """Each change tells how many there are and how many are done; ticking twice is refused."""
    task = records.tasks.create("Move")
    first = records.steps.add(task["id"], "Pack")
    records.steps.add(task["id"], "Carry")
    records.steps.tick(first["id"])
    with pytest.raises(ConflictError):
        records.steps.tick(first["id"])
    records.steps.tick(first["id"], done=False)
    records.steps.remove(first["id"])
    counts = [(e["total"], e["completed"]) for e in told("SubtasksUpdated")]
    assert counts == [(1, 0), (2, 0), (2, 1), (2, 0), (1, 0)]
    assert [step["title"] for step in records.tasks.list().rows[0]["subtasks"]] == ["Carry"]


def test_a_step_needs_its_task(records: Records) -> None:
    """No step for a task that is not there."""
    with pytest.raises(NotFound):
        records.steps.add(str(uuid4()), "Pack")


def test_reminders(records: Records, told: Told) -> None:
    """Only for a task with a day, told when set and when deleted."""
    undated = records.tasks.create("Some day")
    with pytest.raises(ConflictError):
        records.reminders.set(undated["id"], 30)
    task = records.tasks.create("Pay", due_date="2026-12-01")
    with pytest.raises(InputError):
        records.reminders.set(task["id"], -1)
    made = records.reminders.set(task["id"], 30)
    records.reminders.delete(made["id"])
    names = {"task_id": task["id"], "reminder_id": made["id"]}
    assert told("ReminderSet") == [{**names, "minutes_before": 30, "type": "nudge"}]
    assert told("ReminderDeleted") == [names]
