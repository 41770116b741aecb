"""Timeline and budget of Workbench, and the companion's own calls on Usage: empty, full, broken; take back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.act.timeline import Timeline
from core.companion.converse.llm.runs import AiRuns
from core.errors import StatementTimeout
from core.events.actor import ai
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]


def away(*_: Any, **__: Any) -> Any:
    raise StatementTimeout("The database took too long.")


def work(core: Core, *calls: tuple[str, dict[str, Any]], mission: str = "mission-1") -> None:
    agent = ai("planner", f"Planner {ODD}", mission_id=mission, iteration_id="i-1", rationale=f"Because {ODD}")
    for name, params in calls:
        tool = core.companion.act.toolbox.find(name)
        assert tool is not None
        assert core.companion.act.executor.run(tool, params, agent).success
    assert core.events.flush()


def called(core: Core, tier: str = "server", tokens: int = 42) -> None:
    run = {"task": "chat", "tier": tier, "model": "llama3.1", "class": "personal", "prompt_tokens": tokens,
           "completion_tokens": 0, "latency_ms": 120.0, "outcome": "answered"}  # fmt: skip
    core.db.rpc("companion_log_ai_run", {"p_run": run}, read=False)


def test_empty(core: Core, open_page: Open) -> None:
    """Both views say what will stand there; Usage says nothing of it."""
    assert "No AI has done anything here" in texts(calm(open_page("workbench", {"view": "timeline"})))
    at = calm(open_page("workbench", {"view": "budget"}))
    assert "No model was asked yet" in texts(at)
    assert [m.value for m in at.metric][:2] == ["0", "200,000"]


def test_a_run(core: Core, open_page: Open) -> None:
    """Who, why, when and what, character for character; nothing can be pressed by accident."""
    work(core, ("create_task", {"title": f"Pay {ODD}"}), ("log_drink", {"drink_type": "water", "quantity_ml": 250}))
    at = calm(open_page("workbench", {"view": "timeline"}))
    said = texts(at)
    assert f"Because {ODD}" in said and "1 × drink logged, 1 × task created." in said
    assert f"Pay {ODD}" in set(next(d.value for d in at.dataframe if "about" in d.value)["about"])
    assert not [b for b in at.button if b.key == "take-back-now"]


def test_take_back(core: Core, open_page: Open) -> None:
    """What will be undone, and what cannot, is said first; then it is done and the timeline shows it."""
    work(core, ("create_task", {"title": "Pay"}), ("log_drink", {"drink_type": "water", "quantity_ml": 250}))
    core.events.emit("CleanupRan", {"deleted": 3}, actor=ai("p", "P", mission_id="mission-1", iteration_id="i-1",
                                                           rationale="x"))  # fmt: skip
    core.events.flush()
    at = calm(open_page("workbench", {"view": "timeline"}))
    at.button(key="ask-mission-1/i-1").click()
    said = texts(calm(at.run()))
    assert "Will be taken back, newest first: 1 × drink logged, 1 × task created." in said
    assert "Cannot be taken back: 1 × cleanup ran." in said
    at.button(key="take-back-now").click()
    said = texts(calm(at.run()))
    assert "2 of 3 changes taken back, 1 cannot be." in said and "Taken back: 2." in said
    assert core.companion.records.tasks.list("all").total == 0
    assert "yes" in set(next(d.value for d in at.dataframe if "state" in d.value)["state"])


def test_a_conflict_is_told(core: Core, open_page: Open) -> None:
    """The task that somebody changed since stays, and its reason stands on the page."""
    work(core, ("create_task", {"title": "Pay"}))
    task = core.companion.records.tasks.list("open").rows[0]
    core.companion.records.tasks.update(task["id"], {"description": "mine"})
    at = calm(open_page("workbench", {"view": "timeline"}))
    at.button(key="ask-mission-1/i-1").click().run()
    at.button(key="take-back-now").click()
    said = texts(calm(at.run()))
    assert "0 of 1 change taken back, 1 stays as it is." in said and "Somebody else changed this since." in said
    assert core.companion.records.tasks.list("open").total == 1


def test_two_sessions_take_back_at_once(core: Core, open_page: Open) -> None:
    """Each change is taken back once, whoever presses."""
    work(core, *(("log_drink", {"drink_type": "water", "quantity_ml": 100 + n}) for n in range(4)))
    sessions = [calm(open_page("workbench", {"view": "timeline"})) for _ in range(2)]
    for at in sessions:
        at.button(key="ask-mission-1/i-1").click().run()
    gate = threading.Barrier(2)

    def press(at: AppTest) -> None:
        gate.wait()
        at.button(key="take-back-now").click().run()

    threads = [threading.Thread(target=press, args=(at,)) for at in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at in sessions:
        assert "as they are" not in texts(calm(at))
    assert core.companion.act.reverts.plan("mission-1", "i-1").reverted == 4


def test_filters(core: Core, open_page: Open) -> None:
    """By mission and part."""
    work(core, ("create_task", {"title": "Pay"}))
    work(core, ("log_drink", {"drink_type": "water", "quantity_ml": 250}), mission="mission-2")
    at = calm(open_page("workbench", {"view": "timeline", "part": "drink"}))
    assert "drink logged" in texts(at) and "task created" not in texts(at)
    at = calm(open_page("workbench", {"view": "timeline", "desk.kept.workbench-mission": "mission-1"}))
    assert "task created" in texts(at) and "drink logged" not in texts(at)


def test_budget(core: Core, open_page: Open) -> None:
    """Spent today, the limit, what rules had to answer; on Usage a series of its own."""
    called(core)
    called(core, "rules", 0)
    at = calm(open_page("workbench", {"view": "budget"}))
    assert [m.value for m in at.metric] == ["42", "200,000", "1", "1"]
    table = next(d.value for d in at.dataframe if "latency" in d.value)
    assert set(table["tier"]) == {"own server", "rules"}
    assert "The companion's own calls" in texts(calm(open_page("usage")))


def test_what_rules_answered_makes_no_chart(core: Core, open_page: Open) -> None:
    """Axes without a bar would say nothing."""
    called(core, "rules", 0)
    assert "The companion's own calls" not in texts(calm(open_page("usage")))
    said = texts(calm(open_page("workbench", {"view": "budget"})))
    assert "The companion's own calls" not in said and "Calls by day" in said


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each view says that it cannot be shown; Usage shows the rest."""
    monkeypatch.setattr(Timeline, "read", away)
    monkeypatch.setattr(AiRuns, "usage", away)
    for view in ("timeline", "budget"):
        assert "Workbench cannot be shown" in texts(open_page("workbench", {"view": view}))
    said = texts(open_page("usage"))
    assert "The companion's own calls cannot be shown" in said and "Usage cannot be shown" not in said
