"""Nudges on every page: plain text, three answers, each once, and nothing while there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.contract import ModuleTool, Nudge, Priority, ToolResult
from core.companion.reflect.pulse.nudges import Nudges
from core.companion.reflect.pulse.store import PulseStore
from core.errors import DatabaseUnavailable
from pages._shared.resources import core as app_core
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]


def say(core: Core, id: str = "n", priority: Priority = "high", **more: Any) -> None:
    nudge = Nudge(id, "overdue_tasks", ODD, f"Body of {ODD}", priority, "todo", **more)
    PulseStore(core.db).done("r", None, core.clock.now(), [nudge])


def press(at: AppTest, label: str) -> AppTest:
    return next(b for b in at.button if b.label == label).click().run()


def outcomes(core: Core) -> list[str]:
    core.events.flush()
    rows = core.events.store.query(app_id="companion").rows
    return [str(row.payload.get("outcome") or "snoozed") for row in rows if row.type.startswith("Nudge")]


def test_nothing_to_say(core: Core, open_page: Open) -> None:
    """No stack, no badge."""
    at = calm(open_page("settings"))
    assert not [b for b in at.button if str(b.key).startswith("nudge-")]
    assert "nudge" not in texts(at)


def test_on_every_page_as_it_stands(core: Core, open_page: Open) -> None:
    """Text hostile to Markdown comes out character for character (case 23); the sidebar counts."""
    say(core)
    for page in ("overview", "settings", "goals"):
        at = calm(open_page(page))
        shown = [t.value for t in at.text]
        assert ODD in shown and f"Body of {ODD}" in shown
    assert "1 nudge, 1 urgent" in texts(at)


def test_once_on_a_page(core: Core, open_page: Open) -> None:
    """What a page lists itself does not lie over its corner as well; the rest does."""
    PulseStore(core.db).done(
        "r", None, core.clock.now(), [Nudge("s", "expired", "Old snapshots", "60 of them", "high", "snapshots")]
    )
    say(core)
    shown = [t.value for t in calm(open_page("snapshots")).text]
    assert shown.count("Old snapshots") == 1 and shown.count(ODD) == 1
    assert [t.value for t in calm(open_page("goals")).text].count("Old snapshots") == 1


@pytest.mark.parametrize(("label", "outcome"), [("Dismiss", "dismissed"), ("In an hour", "snoozed")])
def test_answered_once(core: Core, open_page: Open, label: str, outcome: str) -> None:
    """Gone from the page after one press; another tab that still shows it changes nothing more."""
    say(core)
    first, second = open_page("settings"), open_page("settings")
    at = press(first, label)
    assert ODD not in texts(calm(at))
    press(second, label)
    assert outcomes(core) == [outcome]


def test_a_page_to_open(core: Core, open_page: Open) -> None:
    """Opens it, and counts as acted on."""
    say(core, action_label="See goals", action_route="goals")
    at = press(open_page("settings"), "See goals")
    assert at.header[0].value == "Goals"
    assert outcomes(core) == ["acted"]


def test_a_route_that_is_none_has_no_button(core: Core, open_page: Open) -> None:
    """A page of another version is not linked."""
    say(core, action_route="no-such-page")
    labels = [b.label for b in calm(open_page("settings")).button]
    assert "Open" not in labels and "Dismiss" in labels


@pytest.mark.parametrize("success", [True, False])
def test_a_tool_to_run(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, success: bool) -> None:
    """Run by the executor as the one who is here; where it fails the nudge stays."""
    ran: list[Mapping[str, Any]] = []

    def execute(params: Mapping[str, Any]) -> ToolResult:
        ran.append(params)
        return ToolResult(success, "Said so.")

    tool = ModuleTool("nudge_test_tool", "todo", "Test", "A test.", execute, "companion", "propose", "public")
    say(core, action_label="Run it", action_tool="nudge_test_tool")
    at = open_page("settings")
    app_core().companion.act.toolbox.register(tool)
    at = press(at, "Run it")
    assert ran == [{}]
    assert outcomes(core) == (["acted"] if success else [])
    assert (ODD in texts(calm(at))) is not success


def test_hidden_until_a_new_one_comes(core: Core, open_page: Open) -> None:
    """Hiding answers nothing; the badge stays."""
    say(core)
    at = press(open_page("settings"), "Hide")
    assert ODD not in texts(at) and "1 nudge" in texts(at)
    say(core, "another")
    st.cache_data.clear()
    assert ODD in texts(at.run())
    assert outcomes(core) == []


def test_what_was_there_before_waits_behind_a_button(core: Core, open_page: Open) -> None:
    """Nothing urgent covers a page that somebody opens; what comes while they are there shows itself."""
    say(core, "older", "medium")
    at = calm(open_page("settings"))
    assert ODD not in texts(at)
    assert ODD in texts(press(at, "1 nudge"))
    assert ODD not in texts(press(at, "Hide"))
    say(core, "newer", "low")
    st.cache_data.clear()
    assert ODD in texts(at.run())
    assert outcomes(core) == []


def test_only_what_is_urgent_opens_by_itself(core: Core, open_page: Open) -> None:
    """One card, not the whole pile; the rest on demand."""
    say(core, "older", "medium")
    say(core, "urgent")
    at = calm(open_page("settings"))
    assert [t.value for t in at.text].count(ODD) == 1 and "1 more" in texts(at)
    assert [t.value for t in press(at, "Show").text].count(ODD) == 2


def test_a_database_that_is_away_spoils_no_page(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says it itself; the stack keeps quiet."""

    def gone(*_: Any, **__: Any) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(Nudges, "open", gone)
    at = calm(open_page("settings"))
    assert "The nudges" not in texts(at)
