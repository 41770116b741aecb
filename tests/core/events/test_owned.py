"""The own day in the log, for those whom it does not concern."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.events.actor import ai, user
from core.events.catalogue import EVENTS
from core.events.owned import OWN_DAY, WITHHELD, without_own_day
from core.events.pilot_rooms import PILOT
from core.events.store import StoredEvent

TASK = StoredEvent(
    *(7, "e", "TaskCreated", "audit", {"task_id": "t-1", "title": "Dentist", "due_date": "2026-12-01"}),
    *(datetime(2026, 11, 30, tzinfo=UTC), "todo", user("local", "Ann"), None, "t-1", None, None),
)


def test_what_it_says_is_withheld_and_what_leads_on_is_not() -> None:
    """Who, when, which kind and the ids stay."""
    found = without_own_day(TASK)
    assert found.payload == {"task_id": "t-1", "title": WITHHELD, "due_date": WITHHELD}
    assert replace(found, payload=TASK.payload) == TASK


def test_the_reason_of_an_ai_too() -> None:
    """It may name the appointment that it moved."""
    acting = ai("m", "Model", mission_id="1", iteration_id="1", rationale="so that the dentist fits")
    assert without_own_day(replace(TASK, actor=acting)).actor.rationale == WITHHELD


@pytest.mark.parametrize("module", [*sorted(OWN_DAY), "memory"])
def test_a_goal_by_its_part(module: str) -> None:
    """A goal of the own day is own; one of the memory is everybody's."""
    goal = replace(
        TASK, type="GoalCreated", app_id="companion", payload={"goal_id": "g", "module": module, "title": "8"}
    )
    assert (without_own_day(goal).payload["title"] == WITHHELD) is (module in OWN_DAY)


def test_all_parts_of_the_own_day() -> None:
    """Those of the catalogue, none forgotten."""
    assert {known.app_id for known in PILOT} == OWN_DAY
    assert without_own_day(replace(TASK, type="DialogIngested", app_id="memory")).payload == TASK.payload
    assert not [name for name, known in EVENTS.items() if known.app_id in OWN_DAY and known not in PILOT]
