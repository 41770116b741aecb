"""Drinks as the companion sees them: reminder, tools, the goal that is reached once a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.contract import Every, Module, Rule, ToolResult
from core.companion.records.records import Records
from tests.core.companion.modules.conftest import context
from tests.support.acting import as_operator

Call = Callable[..., ToolResult]
Told = Callable[..., list[Any]]


def water(ml: int, goal: int = 2500) -> dict[str, Any]:
    return {"water": {"ml": ml, "goal": goal, "percent": round(100 * ml / goal) if goal else 0}}


@pytest.mark.parametrize(("hour", "asks"), [(7, False), (8, True), (21, True), (22, False)])
def test_hours(rules: Mapping[str, Rule], hour: int, asks: bool) -> None:
    """From 8 to 21 h (87), every 90 minutes."""
    assert rules["water-reminder"].trigger == Every(90)
    assert bool(rules["water-reminder"].check(context(hour, drink=water(0)))) is asks


def test_what_is_left(rules: Mapping[str, Rule]) -> None:
    """What is left, an hour until 21; medium below half; nothing at 100 % (89) and nothing without a goal."""
    check = rules["water-reminder"].check
    nudge = check(context(14, drink=water(1000)))
    assert nudge.body == "1,500 ml are left of 2,500 ml: 215 ml an hour until 21 h."
    assert (nudge.id, nudge.priority) == ("water-2026-11-30-14", "medium")
    assert (nudge.action_tool, nudge.action_params["quantity_ml"]) == ("log_drink", 250)
    assert check(context(14, drink=water(1250))).priority == "low"
    assert check(context(21, drink=water(1000))).body == "1,500 ml are left of 2,500 ml."
    assert check(context(14, drink=water(2500))) is None
    assert check(context(14, drink=water(0, 0))) is None
    assert rules["water-reminder"].resolves(context(14, drink=water(2500)), nudge.id)


def test_tools(call: Call, told: Told) -> None:
    """Alcohol is another drink; kinds and amounts are checked; what cannot be taken back fails without an event."""
    assert call("log_drink", drink_type="alcohol", quantity_ml="40").data["drink_type"] == "other"
    assert call("log_drink", drink_type="water", quantity_ml=250, name="From the tap").success
    assert call("get_drink_progress").data["water"]["ml"] == 250
    assert call("undo_drink").success
    assert call("undo_drink").success
    assert not call("undo_drink").success
    assert len(told("DrinkEntryUndone")) == 2


def test_reached_once_a_day(
    core: Core, records: Records, modules: Mapping[str, Module], told: Told, clock: FixedClock
) -> None:
    """By water alone, once for each local day, by the product itself, caused by the drink; also with two processes."""
    for type, handler in modules["drink"].handlers.items():
        core.events.on(type, handler)
    records.drinks.log("coffee", 3000)
    records.drinks.log("water", 2499)
    assert told("DrinkGoalReached") == []
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(as_operator(lambda _: records.drinks.log("water", 100)), range(8)))
    last = records.drinks.log("water", 100)
    records.drinks.delete(last["id"])
    records.drinks.restore(last["id"])
    (event,) = told("DrinkGoalReached", whole=True)
    assert (event.actor.principal_id, event.payload["date"]) == ("system:projection", "2026-11-30")
    assert event.caused_by is not None
    records.drinks.log("water", 2500, at=clock.now() - timedelta(days=1))
    assert [e["date"] for e in told("DrinkGoalReached")] == ["2026-11-30", "2026-11-29"]


def test_no_goal_is_never_reached(core: Core, records: Records, modules: Mapping[str, Module], told: Told) -> None:
    """A goal of zero is none."""
    core.events.on("DrinkLogged", modules["drink"].handlers["DrinkLogged"])
    assert records.targets.set_water(0)
    assert not records.targets.set_water(0)
    records.drinks.log("water", 100)
    assert told("DrinkGoalReached") == []
    assert told("DrinkGoalSet") == [{"goal_ml": 0, "before_ml": 2500}]


def test_inverses(records: Records, undo: Callable[[str], ToolResult]) -> None:
    """A logged drink is deleted by its entry; a deleted one comes back; a second time changes nothing."""
    records.drinks.log("water", 250)
    assert undo("DrinkLogged").success
    assert not undo("DrinkLogged").success
    assert undo("DrinkEntryDeleted").success
    assert records.drinks.day(records.today())["water"]["ml"] == 250


def test_the_companion_listens(core: Core, told: Told) -> None:
    """The handlers of the modules are joined to the events of the process."""
    core.companion.records.drinks.log("water", 3000)
    assert len(told("DrinkGoalReached")) == 1
