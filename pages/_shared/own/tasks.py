"""The Todo page: tasks in one line, the list, the week."""

from __future__ import annotations

from datetime import date
from typing import Any

import streamlit as st

from core.companion.records import quick
from core.companion.records.tasks import PRIORITIES
from core.companion.records.when import say_day
from pages._shared import address, layout
from pages._shared.feedback import stale
from pages._shared.layout import Figure, panel
from pages._shared.own import acting, reading, rows, week
from pages._shared.own.acting import Said
from pages._shared.resources import core

PAGE = "todo"
SHOWN = 50
VIEWS = {"open": "Open", "today": "Due today", "overdue": "Overdue", "completed": "Completed", "all": "All"}
EMPTY = {
    "open": "No task is open. Write one above: its day and its priority are read from the line.",
    "today": "No open task is due today.",
    "overdue": "No open task is past its day.",
    "completed": "No task is completed yet.",
    "all": "There is no task yet. Write one above.",
}
COLOURS = {"high": "red", "medium": "gray", "low": "gray"}


def write(text: str, id: str) -> Said:
    today = reading.today()
    found = quick.task(text, today)
    core().companion.records.tasks.create(found.title, due_date=found.due_date, priority=found.priority, id=id)
    return Said(True, found.says(today), ("tasks", "delete", id))


def figures(day: Any) -> None:
    layout.figures(
        Figure("Open", str(day["total"])),
        Figure("Due today", str(len(day["due_today"]))),
        Figure("Overdue", str(day["overdue"]), "Open, and their day is past."),
        Figure("Completed today", str(day["completed"])),
    )


def listing() -> None:
    with panel("Tasks", "Those with a day first, then by priority."):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            view = address.segments("Show", VIEWS, "show", default="open", labelled=False)
            part = st.text_input(
                "Find", key="todo-find", placeholder="part of a title", label_visibility="collapsed", width=220
            )
        read = reading.ask("tasks", "list", view, part or None, SHOWN)
        stale(read)
        page = read.value
        if not page.rows:
            st.text("No task has this in its title." if part else EMPTY[view])
        for task in page.rows:
            _row(task)
        if page.total > len(page.rows):
            st.caption(f"{len(page.rows)} of {page.total:,} tasks. Find the others by a part of their title.")


def chart() -> None:
    week.card(
        "Completed in the last seven days",
        "Tasks per local day.",
        reading.week().value,
        {"completed": "Completed"},
        "tasks",
        key="todo-week",
    )


def _row(task: Any) -> None:
    id, done = task["id"], task["completed_at"] is not None
    today = reading.today()
    due = date.fromisoformat(task["due_date"]) if task["due_date"] else None
    said = f"due {say_day(due, today)}" if due else "without a day"
    badges = [("overdue", "red")] if task["overdue"] else []
    badges += [("completed", "green")] if done else []
    badges += [("high", COLOURS["high"])] if task["priority"] == "high" and not done else []
    steps = task["subtasks"]
    if steps:
        said += f" · {sum(1 for step in steps if step['completed_at'])} of {len(steps)} steps"
    with rows.row(f"task-{id}", task["title"], said, *badges):
        if done:
            st.button("Open again", key=f"reopen-{id}", type="tertiary", on_click=_reopen, args=(task,))
        else:
            st.button("Complete", key=f"complete-{id}", icon=":material/check:", on_click=_complete, args=(task,))
        if st.button("Edit", key=f"edit-{id}", type="tertiary"):
            _edit(task)
        st.button("Delete", key=f"delete-{id}", type="tertiary", on_click=_delete, args=(task,))


def _complete(task: Any) -> None:
    _act("Completing", f"Completed: {task['title']}", ("tasks", "complete", task["id"]), "uncomplete")


def _reopen(task: Any) -> None:
    _act("Opening", f"Open again: {task['title']}", ("tasks", "uncomplete", task["id"]), "complete")


def _delete(task: Any) -> None:
    _act("Deleting", f"Deleted: {task['title']}", ("tasks", "delete", task["id"]), "restore")


def _act(what: str, words: str, step: acting.Step, back: str) -> None:
    def do() -> Said:
        acting.call(step)
        return Said(True, words, (step[0], back, step[2]))

    acting.press(PAGE, what, do, key=f"{step[1]}-{step[2]}")


@st.dialog("Edit the task")
def _edit(task: Any) -> None:
    id = task["id"]
    with st.form(f"task-form-{id}", border=False):
        st.text_input("Title", task["title"], max_chars=200, key=f"title-{id}")
        st.date_input("Due", date.fromisoformat(task["due_date"]) if task["due_date"] else None, key=f"due-{id}")
        st.selectbox("Priority", PRIORITIES, PRIORITIES.index(task["priority"]), key=f"priority-{id}")
        st.text_area("Description", task["description"] or "", max_chars=4000, key=f"description-{id}")
        if st.form_submit_button("Save", type="primary", on_click=_save, args=(task,)):
            st.rerun()


def _save(task: Any) -> None:
    id = task["id"]
    fields = {"title": "title", "due_date": "due", "priority": "priority", "description": "description"}
    given = {name: st.session_state[f"{key}-{id}"] for name, key in fields.items()}
    former = {name: task[name] for name in given}

    def do() -> Said:
        core().companion.records.tasks.update(id, given)
        return Said(True, f"Changed: {given['title']}", ("tasks", "update", id, former))

    acting.press(PAGE, "Saving", do, key=f"save-{id}")
