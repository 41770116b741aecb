"""Tasks: each change told once with its actor, honest refusals, soft deletes, who set which field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.records.records import Records
from core.errors import ConflictError, InputError, NotFound
from core.events.actor import ai, run_as, user

Told = Callable[..., list[Any]]
AGENT = ai("planner", "Planner", mission_id="m1", iteration_id="i1", rationale="It is due.")


def test_made_once(records: Records, told: Told) -> None:
    """The id of the form is the id of the task: a second press makes no second task and tells nothing."""
    id = str(uuid4())
    for _ in range(2):
        records.tasks.create("  Call\nAnna ", due_date="2026-12-01", priority="high", description="her words", id=id)
    assert records.tasks.list("all").total == 1
    (event,) = told("TaskCreated")
    assert event == {"task_id": id, "title": "Call Anna", "due_date": "2026-12-01", "priority": "high"}


def test_completed_once(records: Records, told: Told) -> None:
    """Completing twice fails and tells nothing; an unknown id as well."""
    task = records.tasks.create("Pay", due_date="2026-11-29")
    records.tasks.complete(task["id"])
    with pytest.raises(ConflictError, match="completed already"):
        records.tasks.complete(task["id"])
    for unknown in (str(uuid4()), "7", "", "x' or true"):
        with pytest.raises(NotFound):
            records.tasks.complete(unknown)
    (event,) = told("TaskCompleted")
    assert event["was_overdue"] is True


def test_open_again_never_toggles(records: Records, told: Told) -> None:
    """An open task cannot be opened; nothing is completed by it."""
    task = records.tasks.create("Pay")
    with pytest.raises(ConflictError):
        records.tasks.uncomplete(task["id"])
    records.tasks.complete(task["id"])
    records.tasks.uncomplete(task["id"])
    assert records.tasks.get(task["id"])["completed_at"] is None
    assert len(told("TaskUncompleted")) == 1


def test_moved_and_renamed(records: Records, told: Told) -> None:
    """A new day is told as such; a change that changes nothing is no event."""
    task = records.tasks.create("Pay", due_date=date(2026, 12, 1))
    records.tasks.update(task["id"], {"title": "Pay", "due_date": "2026-12-01"})
    assert told("TaskUpdated") == []
    records.tasks.update(task["id"], {"title": "Pay rent", "due_date": "2026-12-02"})
    assert told("TaskUpdated") == [{"task_id": task["id"], "fields": ["due_date", "title"]}]
    (moved,) = told("TaskRescheduled")
    assert (moved["old_date"], moved["new_date"]) == ("2026-12-01", "2026-12-02")


def test_deleted_and_back(records: Records, told: Told) -> None:
    """A deleted task is in no list and cannot be changed, until it is put back."""
    task = records.tasks.create("Pay")
    records.tasks.delete(task["id"])
    assert records.tasks.list("all").total == 0
    with pytest.raises(NotFound):
        records.tasks.update(task["id"], {"title": "x"})
    records.tasks.restore(task["id"])
    with pytest.raises(ConflictError):
        records.tasks.restore(task["id"])
    assert records.tasks.list().total == 1
    assert (len(told("TaskDeleted")), len(told("TaskRestored"))) == (1, 1)


def test_who_set_what(records: Records, told: Told) -> None:
    """The row names its last actor and the one of every field; the event has the same actor (EV-7)."""
    with run_as(user("olena", "Olena", ("owner",))):
        task = records.tasks.create("Pay")
    with run_as(AGENT):
        done = records.tasks.complete(task["id"])
    assert done["last_actor"]["principal_id"] == "planner"
    assert done["field_actors"]["title"]["principal_id"] == "olena"
    assert done["field_actors"]["completed_at"]["iteration_id"] == "i1"
    assert "rationale" not in done["field_actors"]["completed_at"]
    (event,) = told("TaskCompleted", whole=True)
    assert (event.actor.kind, event.record_id) == ("ai", task["id"])


def test_the_one_who_looked_away(records: Records) -> None:
    """A change that names what it takes the task to be is refused once that is otherwise."""
    task = records.tasks.create("Pay", due_date="2026-12-01")
    records.tasks.update(task["id"], {"due_date": "2026-12-02"})
    with pytest.raises(ConflictError, match="due_date"):
        records.tasks.update(task["id"], {"due_date": None}, match={"due_date": "2026-12-01"})
    assert records.tasks.get(task["id"])["due_date"] == "2026-12-02"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("title", {"title": " \n "}),
        ("title", {"title": "x" * 201}),
        ("title", {"title": None}),
        ("due_date", {"title": "x", "due_date": "tomorrow"}),
        ("due_date", {"title": "x", "due_date": "20261201"}),
        ("priority", {"title": "x", "priority": "urgent"}),
        ("description", {"title": "x", "description": 7}),
    ],
)
def test_fields_are_named(records: Records, field: str, values: dict[str, Any]) -> None:
    """What is unusable is refused by the name of its field, and nothing is written."""
    with pytest.raises(InputError) as refused:
        records.tasks.create(**values)
    assert refused.value.field == field
    assert records.tasks.list("all").total == 0


def test_lists(records: Records, clock: FixedClock) -> None:
    """Open tasks by day, then priority; overdue and today by the local day; titles are searched as they stand."""
    for title, due, priority in (("c", None, "high"), ("b 100%", "2026-11-30", "low"), ("a", "2026-11-29", "low")):
        records.tasks.create(title, due_date=due, priority=priority)
    records.tasks.create("d", due_date="2026-11-30", priority="high")
    titles = lambda page: [row["title"] for row in page.rows]  # noqa: E731
    assert titles(records.tasks.list()) == ["a", "d", "b 100%", "c"]
    assert titles(records.tasks.list("overdue")) == ["a"]
    assert titles(records.tasks.list("today")) == ["d", "b 100%"]
    assert titles(records.tasks.list("open", text="0%")) == ["b 100%"]
    assert titles(records.tasks.list("open", text="_")) == []
    records.tasks.complete(records.tasks.list("overdue").rows[0]["id"])
    assert titles(records.tasks.list("completed")) == ["a"]
    clock.at += timedelta(hours=10)  # 22:00 UTC is 1 December in Kyiv
    assert titles(records.tasks.list("overdue")) == ["d", "b 100%"]


def test_the_day(records: Records, clock: FixedClock) -> None:
    """Completed counts those of the day alone; due tasks come by priority (PR-3)."""
    old = records.tasks.create("old", due_date="2026-11-28")
    records.tasks.create("late", due_date="2026-11-29")
    records.tasks.create("due", due_date="2026-11-30")
    records.tasks.complete(old["id"])
    day = records.tasks.day(records.today())
    assert {k: day[k] for k in ("total", "completed", "overdue")} == {"total": 2, "completed": 1, "overdue": 1}
    assert [item["title"] for item in day["due_today"]] == ["due"]
    clock.at += timedelta(days=1)
    assert records.tasks.day(records.today())["completed"] == 0


def test_by_title(records: Records, told: Told) -> None:
    """Every open task whose title holds the words, in any case, each told once."""
    for title in ("Buy Milk", "milk the cow", "Bread"):
        records.tasks.create(title)
    assert len(records.tasks.complete_matching("MILK")) == 2
    assert records.tasks.complete_matching("MILK") == ()
    assert len(told("TaskCompleted")) == 2


def test_nothing_but_the_title_in_events(records: Records, core: Core) -> None:
    """A description stays in its row."""
    records.tasks.create("Pay", description="secret words")
    assert core.events.flush()
    assert "secret" not in str(core.events.store.query(limit=50).rows)
