"""The tools of tasks say honestly what they did; their inverses overwrite nobody's later change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from core.companion.contract import ToolResult
from core.companion.records.records import Records
from core.events.actor import ai, run_as

Call = Callable[..., ToolResult]
Undo = Callable[[str], ToolResult]
Told = Callable[..., list[Any]]
AGENT = ai("planner", "Planner", mission_id="m1", iteration_id="i1", rationale="It is due.")


def test_create(call: Call) -> None:
    """The seed's numbers are taken for priorities: 0 and 1 low, 2 medium, 3 high; medium where nothing is said."""
    made = [call("create_task", title="x", priority=given).data["priority"] for given in (0, "1", 2, 3, "high")]
    assert made == ["low", "low", "medium", "high", "high"]
    assert call("create_task", title="x").data["priority"] == "medium"
    assert not call("create_task", title="x", due_date="2026-13-01").success


def test_complete(call: Call, told: Told) -> None:
    """Unknown and completed tasks fail without an event (TO-7)."""
    task = call("create_task", title="Pay").data
    assert call("complete_task", task_id=task["id"]).success
    for id in (task["id"], str(uuid4()), "nonsense"):
        failed = call("complete_task", task_id=id)
        assert not failed.success
        assert failed.message
    assert len(told("TaskCompleted")) == 1


def test_complete_by_title(call: Call, told: Told) -> None:
    """Open tasks alone, any case; none is a failure."""
    for title in ("Buy milk", "MILK", "Bread"):
        call("create_task", title=title)
    assert len(call("complete_tasks_by_title", title_match="milk").data) == 2
    assert not call("complete_tasks_by_title", title_match="milk").success
    assert len(told("TaskCompleted")) == 2


def test_reads(call: Call) -> None:
    """Figures and lists; what goes to a model has no description."""
    call("create_task", title="Pay", due_date="2026-11-29", description="secret words")
    assert call("get_task_stats").data == {"total": 1, "completed": 0, "overdue": 1, "due_today": 0}
    listed = call("list_tasks", filter="overdue", limit="5")
    assert listed.llm_data["total"] == 1
    assert "secret" not in str(listed.llm_data)
    assert "secret" not in listed.message


def test_inverses(records: Records, undo: Undo) -> None:
    """Created, completed, moved, deleted: each has its way back."""
    with run_as(AGENT):
        task = records.tasks.create("Pay", due_date="2026-12-01")
        records.tasks.update(task["id"], {"due_date": "2026-12-05"})
        records.tasks.complete(task["id"])
    assert undo("TaskCompleted").success
    assert records.tasks.get(task["id"])["completed_at"] is None
    assert undo("TaskRescheduled").success
    assert records.tasks.get(task["id"])["due_date"] == "2026-12-01"
    assert undo("TaskCreated").success
    assert records.tasks.list("all").total == 0
    assert undo("TaskDeleted").success
    assert records.tasks.list("all").total == 1


def test_a_reopened_task_is_not_completed_again(records: Records, undo: Undo) -> None:
    """The inverse sets open, it does not toggle (85)."""
    with run_as(AGENT):
        task = records.tasks.create("Pay")
        records.tasks.complete(task["id"])
    records.tasks.uncomplete(task["id"])
    assert not undo("TaskCompleted").success
    assert records.tasks.get(task["id"])["completed_at"] is None


def test_later_changes_stay(records: Records, undo: Undo) -> None:
    """What somebody else completed, renamed or moved since is a conflict, and stays (WB-4)."""
    with run_as(AGENT):
        task = records.tasks.create("Pay", due_date="2026-12-01")
        records.tasks.complete(task["id"])
    records.tasks.uncomplete(task["id"])
    records.tasks.complete(task["id"])
    with run_as(AGENT):
        other = records.tasks.create("Rent", due_date="2026-12-01")
        records.tasks.update(other["id"], {"due_date": "2026-12-02"})
    records.tasks.update(other["id"], {"due_date": "2026-12-09"})
    undo("TaskRescheduled")  # of the operator, whose latest move it is: back to the day before it
    assert records.tasks.get(other["id"])["due_date"] == "2026-12-02"
    assert not undo("TaskCreated").success
    assert records.tasks.get(task["id"])["completed_at"] is not None
