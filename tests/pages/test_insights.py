"""The Insights page: empty, full, broken; facts and rules judged as a person does it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.contract import Nudge
from core.companion.reflect.facts import Learned
from core.companion.reflect.memory import Facts
from core.companion.reflect.pulse.store import PulseStore
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]
FACT = Learned("dow:TaskCompleted", "pattern", "Tasks are completed mostly on $Monday$.", {"weekdays": [0]}, ("todo",))


def press(at: AppTest, label: str) -> AppTest:
    return next(b for b in at.button if b.label == label).click().run()


def opened(open_page: Open, view: str) -> AppTest:
    return open_page("insights", query={"view": view})


@pytest.mark.parametrize(
    ("view", "why"),
    [
        ("streaks", "No streak has begun"),
        ("correlations", "No two figures move together"),
        ("facts", "Nothing was learned yet"),
        ("learning", "No nudge has an outcome yet"),
        ("nonsense", "No streak has begun"),
    ],
)
def test_empty(core: Core, open_page: Open, view: str, why: str) -> None:
    """Each part says why it is empty and what fills it."""
    assert why in texts(calm(opened(open_page, view)))


def test_streaks(core: Core, open_page: Open) -> None:
    """A task done today begins one."""
    core.events.emit("TaskCompleted", {"task_id": "t"})
    core.events.flush()
    at = calm(opened(open_page, "streaks"))
    assert next(m.value for m in at.metric if m.label == "Longest now") == "1 day"
    assert "active" in list(at.dataframe[0].value["status"])


def test_facts(core: Core, open_page: Open) -> None:
    """Words as they stand, how sure; contradicted, forgotten, and back."""
    facts = core.companion.reflection.facts
    facts.learn(FACT)
    at = calm(opened(open_page, "facts"))
    assert FACT.content in [t.value for t in at.text]
    assert "It counts once a day" in texts(press(at, "Confirm"))
    at = press(at, "Contradict")
    assert facts.list(0.0)[0].confidence == 0.15
    at = press(calm(at), "Forget")
    assert facts.list(0.0) == ()
    press(calm(at), "Undo")
    assert len(facts.list(0.0)) == 1


def test_learning(core: Core, open_page: Open) -> None:
    """What answers changed about a rule, and its reset."""
    mind, store = core.companion.reflection, PulseStore(core.db)
    now = core.clock.now().replace(hour=18)
    for n in range(12):
        then = now - timedelta(days=n + 1)
        store.done("streak-warning", None, then, [Nudge(f"n{n}", "streak_warning", "T", "B", "low", "todo")])
    for nudge in mind.nudges.open():
        mind.nudges.dismiss(LOCAL_OPERATOR, nudge)
    assert mind.feedback.learn() == 1
    at = calm(opened(open_page, "learning"))
    said = texts(at)
    assert "At 18:00 it was seldom acted on: it comes 1 hour later." in said
    assert "0 of 12 acted on, 0%" in said
    at = press(at, "Reset")
    assert "12 answers count no more" in texts(calm(at))
    assert mind.feedback.rules()[0].total == 0


def test_switching_a_rule(core: Core, open_page: Open) -> None:
    """Off, and on again."""
    at = press(opened(open_page, "learning"), "Switch off")
    assert sum(not view.state.enabled for view in core.companion.reflection.feedback.rules()) == 1
    press(calm(at), "Switch on")
    assert all(view.state.enabled for view in core.companion.reflection.feedback.rules())


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer: says so, offers a retry, then works again."""

    def gone(*_: Any, **__: Any) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    with monkeypatch.context() as patched:
        patched.setattr(Facts, "list", gone)
        at = opened(open_page, "facts")
        assert not at.exception
        assert "Can't reach the memory database." in texts(at)
    assert "Nothing was learned yet" in texts(press(at, "Retry now"))
