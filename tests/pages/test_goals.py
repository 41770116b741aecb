"""The Goals page: empty, full, broken; made, changed, ended and brought back as a person does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.contract import GoalMetric, GoalTarget
from core.companion.reflect.goals.draft import Draft
from core.companion.reflect.goals.store import GoalStore
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]
TASKS = GoalMetric("event_count", ("TaskCompleted",), ("TaskUncompleted",))
GOAL_ID = "00000000-0000-4000-8000-000000000001"
TITLE = ODD[:60].strip()


def make(core: Core, target: GoalTarget = GoalTarget(3, "day"), title: str = TITLE) -> None:  # noqa: B008
    core.companion.reflection.goals.save(LOCAL_OPERATOR, Draft(GOAL_ID, title, "todo", TASKS, target))


def done(core: Core, times: int) -> None:
    for _ in range(times):
        core.events.emit("TaskCompleted", {"task_id": "t"})
    core.events.flush()


def press(at: AppTest, label: str) -> AppTest:
    return next(b for b in at.button if b.label == label).click().run()


def test_empty(core: Core, open_page: Open) -> None:
    """No goal: why, and templates of every part of the product to press."""
    at = calm(open_page("goals"))
    assert "No goal yet" in texts(at)
    labels = {b.label for b in at.button}
    assert {"Make a goal"} <= labels
    assert {t.title for t in core.companion.reflection.goals.templates} <= labels


def test_full(core: Core, open_page: Open) -> None:
    """An odd title as it stands, the value, what is missing, the state of a limit."""
    make(core)
    done(core, 2)
    at = calm(open_page("goals"))
    assert TITLE in [t.value for t in at.text]
    assert [m.value for m in at.metric][:4] == ["1", "0", "1", "0"]
    assert "today · todo" in texts(at)
    done(core, 1)
    st.cache_data.clear()
    assert [m.value for m in at.run().metric][:3] == ["1", "1", "0"]


def test_one_click_and_twice(core: Core, open_page: Open) -> None:
    """A template makes its goal; it cannot be pressed a second time while that is active."""
    template = core.companion.reflection.goals.templates[0]
    at = press(open_page("goals"), template.title)
    assert f"{template.title}: made." in texts(calm(at))
    assert next(b for b in at.button if b.label == template.title).disabled
    assert len(core.companion.reflection.goals.list()) == 1


def test_pause_delete_and_undo(core: Core, open_page: Open) -> None:
    """Each change says what it did and offers the way back."""
    make(core)
    at = press(open_page("goals"), "Pause")
    assert "paused" in texts(calm(at))
    at = press(at, "Undo")
    assert core.companion.reflection.goals.list()[0].status == "active"
    at = press(at, "Delete")
    assert core.companion.reflection.goals.list() == ()
    assert "No goal yet" in texts(at)
    at = press(calm(at), "Undo")
    assert len(core.companion.reflection.goals.list()) == 1
    for label, status in (("Complete", "completed"), ("Resume", "active"), ("Abandon", "abandoned")):
        at = press(calm(at), label)
        assert core.companion.reflection.goals.list()[0].status == status


def test_a_goal_of_ones_own(core: Core, open_page: Open) -> None:
    """Events from the catalogue, a preview of today, faults by the name of their field, then saved."""
    done(core, 2)
    at = press(open_page("goals"), "Make a goal")
    assert "Events that count: Choose at least one event to count." in texts(calm(at))
    at = next(m for m in at.multiselect if m.label == "Events that count").set_value(["TaskCompleted"]).run()
    assert "Would be 2 today." in texts(calm(at))
    at = press(at, "Save")
    assert "Title: A title has 1 to 60 characters." in texts(at)
    next(t for t in at.text_input if t.label == "Title").set_value("Mine")
    next(n for n in at.number_input if n.label == "Target").set_value(0)
    at = press(at.run(), "Save")
    assert "Target: A target to reach is more than 0." in texts(at)
    next(n for n in at.number_input if n.label == "Target").set_value(4)
    at = press(at.run(), "Save")
    assert "Mine: made." in texts(calm(at))
    (goal,) = core.companion.reflection.goals.list()
    assert (goal.title, goal.value, goal.target) == ("Mine", 2, GoalTarget(4, "day"))


def test_changing_one(core: Core, open_page: Open) -> None:
    """The form has its values; saving keeps what was counted."""
    make(core, title="Tasks")
    done(core, 1)
    at = press(open_page("goals"), "Edit")
    assert next(t for t in at.text_input if t.label == "Title").value == "Tasks"
    next(t for t in at.text_input if t.label == "Title").set_value("More tasks")
    at = press(at.run(), "Save")
    assert "More tasks: changed." in texts(calm(at))
    (goal,) = core.companion.reflection.goals.list()
    assert (goal.title, goal.value) == ("More tasks", 1)


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer: says so, offers a retry, then works again."""

    def gone(*_: Any, **__: Any) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    with monkeypatch.context() as patched:
        patched.setattr(GoalStore, "list", gone)
        at = open_page("goals")
        assert not at.exception
        assert "Can't reach the memory database." in texts(at)
    assert "No goal yet" in texts(press(at, "Retry now"))
