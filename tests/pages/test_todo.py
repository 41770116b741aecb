"""The Todo page: empty, written, completed and taken back, edited, broken; text as it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.records.tasks import Tasks
from core.errors import DatabaseUnavailable
from pages._shared.own import acting
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def every_press_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test presses faster than a person."""
    monkeypatch.setattr(acting, "DOUBLE_CLICK_S", 0.0)


def metric(at: AppTest, label: str) -> str:
    return next(str(m.value) for m in at.metric if m.label == label)


def write(at: AppTest, page: str, text: str) -> AppTest:
    at.text_input(key=f"{page}-line").set_value(text)
    next(b for b in at.button if b.label == "Add").click()
    return calm(at.run())


def test_written_completed_and_taken_back(core: Core, open_page: Open) -> None:
    """What a line was taken for is said; one click completes; undo opens again, then undo of deleting puts back."""
    at = calm(open_page("todo"))
    assert "No task is open" in texts(at)
    write(at, "todo", "Call Anna tomorrow !high")
    assert "Task: Call Anna · due tomorrow · high priority" in texts(at)
    assert at.text_input(key="todo-line").value == ""
    (task,) = core.companion.records.tasks.list().rows
    calm(at.button(key=f"complete-{task['id']}").click().run())
    assert (metric(at, "Open"), metric(at, "Completed today")) == ("0", "1")
    calm(at.button(key="undo-todo").click().run())
    assert metric(at, "Open") == "1"
    calm(at.button(key=f"delete-{task['id']}").click().run())
    assert metric(at, "Open") == "0"
    calm(at.button(key="undo-todo").click().run())
    assert metric(at, "Open") == "1"


def test_a_line_that_says_nothing_stays(core: Core, open_page: Open) -> None:
    """What is missing is said, the line is there to be mended, and nothing is written."""
    at = write(calm(open_page("todo")), "todo", "tomorrow !high")
    assert "Say what it is" in texts(at)
    assert at.text_input(key="todo-line").value == "tomorrow !high"
    assert core.companion.records.tasks.list("all").total == 0


def test_edited(core: Core, open_page: Open) -> None:
    """In a dialog; undo brings back what was there."""
    task = core.companion.records.tasks.create("Pay", priority="low")
    at = calm(open_page("todo"))
    calm(at.button(key=f"edit-{task['id']}").click().run())
    at.text_input(key=f"title-{task['id']}").set_value("Pay rent")
    next(b for b in at.button if b.label == "Save").click()
    calm(at.run())
    assert core.companion.records.tasks.get(task["id"])["title"] == "Pay rent"
    calm(at.button(key="undo-todo").click().run())
    assert core.companion.records.tasks.get(task["id"])["title"] == "Pay"


def test_text_as_it_is(core: Core, open_page: Open) -> None:
    """Dollars, tildes, colons come out character for character, in the list and in what was done (case 23)."""
    write(calm(open_page("todo")), "todo", ODD)
    at = calm(open_page("todo"))
    assert ODD in [element.value for element in at.text]
    late = core.companion.records.today() - timedelta(1)
    core.companion.records.tasks.create("late", due_date=late)
    at = calm(open_page("todo", query={"show": "overdue"}))
    assert ODD not in [element.value for element in at.text]
    assert "late" in [element.value for element in at.text]


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is said, and a retry offered."""

    def fails(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(Tasks, "day", fails)
    at = calm(open_page("todo"))
    assert "Todo cannot be shown" in texts(at)
