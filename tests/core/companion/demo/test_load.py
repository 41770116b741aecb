"""The invented weeks in the database: patterns are found in them, and nothing of them counts once they are removed."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.companion.contract import GoalMetric, GoalTarget
from core.companion.demo.load import CompanionDemo
from core.companion.reflect.goals.draft import Draft
from core.errors import CoreError
from core.events.actor import LOCAL_OPERATOR

TABLES = (
    "companion_tasks",
    "companion_calendar_events",
    "companion_drink_entries",
    "companion_meals",
    "companion_places",
)
MINE = "00000000-0000-4000-8000-000000000001"


def load(core: Core) -> None:
    list(CompanionDemo(core.companion).write([], core.clock.now()))


def remove(core: Core) -> None:
    event = core.events.prepare("DemoRemoved", {})
    core.db.rpc("desk_remove_demo", {"p_event": event.row()}, read=False)
    CompanionDemo(core.companion).removed()


def count(dsn: str, table: str) -> int:
    with psycopg.connect(dsn) as sql:
        found: Any = sql.execute(f"select count(*) from {table}").fetchone()
        return int(found[0])


def chain(core: Core) -> dict[str, Any]:
    found: dict[str, Any] = core.db.rpc("companion_verify_chain", {}, read=True, returns=dict)
    return found


def test_found_and_gone(core: Core, dsn: str) -> None:
    """Streaks, facts, correlations, goals with history, two proposals and nudges; a second load adds nothing; removed,
    only what a person did counts, and the log verifies."""
    mind, records = core.companion.reflection, core.companion.records
    load(core)
    events = count(dsn, "companion_events")
    streaks = {streak.id: streak.current for streak in core.companion.streaks.all()}
    assert streaks["drink.water_goal"] >= 18 and streaks["todo.tasks"] >= 40 and streaks["food.meals"] >= 40
    pairs = {found.id: found.coefficient for found in core.companion.correlations.all()}
    assert pairs["corr:calendar.meeting_hours:todo.completed"] < -0.5
    facts = {fact.fact_key: fact for fact in mind.facts.list(0.0)}
    assert facts["sequence:DrinkLogged:drink_type.coffee:CalendarEventCreated"].confidence >= 0.5
    assert facts["dow:PlaceVisited"].measured["weekdays"] == [1, 3, 5]
    goals = {goal.template_id: goal for goal in mind.goals.list(30)}
    judged = [period.reached for period in goals["drink.water-8"].history]
    assert len(judged) == 30 and True in judged and False in judged
    assert len(goals["places.three-a-week"].history) >= 4
    waiting = core.companion.act.proposals.list("open").rows
    assert [p.tool_name for p in waiting] == ["create_task"] and waiting[0].actor.kind == "ai"
    assert {nudge.type for nudge in mind.nudges.open()} >= {"overdue_tasks", "correlation_insight"}
    assert chain(core)["ok"]

    list_before = {table: count(dsn, table) for table in TABLES}
    load(core)
    assert {table: count(dsn, table) for table in TABLES} == list_before
    assert count(dsn, "companion_events") <= events + 10  # the second look is told, no day twice

    water = GoalMetric("event_count", ("DrinkLogged",), ("DrinkEntryUndone",), "drink_type", "water")
    mind.goals.save(LOCAL_OPERATOR, Draft(MINE, "My own water", "drink", water, GoalTarget(90, "day")))
    records.drinks.log("water", 300)
    records.tasks.create("Mine")
    core.events.flush()
    remove(core)
    assert {table: count(dsn, table) for table in TABLES} == {
        **dict.fromkeys(TABLES, 0), "companion_tasks": 1, "companion_drink_entries": 1,
    }  # fmt: skip
    assert chain(core)["ok"]
    assert not core.companion.correlations.all() and not core.companion.act.proposals.list("open").rows
    assert all(streak.current == 0 for streak in core.companion.streaks.all())
    assert [(goal.id, goal.value) for goal in mind.goals.list()] == [(MINE, 1.0)]
    assert not any(fact.source_modules == ("places",) for fact in mind.facts.list(0.0))
    today = records.today()
    assert core.companion.projections.day(today)["drink"]["water"]["ml"] == 300
    assert core.events.store.query(type="DrinkLogged").rows[0].payload["quantity_ml"] == 300
    assert len(core.events.store.query(type="DrinkLogged").rows) == 1


def test_what_is_not_marked_is_refused(core: Core) -> None:
    """The function writes demo rows alone, and into its own tables alone."""
    row = {"id": MINE, "name": "Mine", "lat": 1, "lng": 2}
    for rows in ({"companion_places": [row]}, {"desk_meta": [{**row, "id": "de30de30-de30-8000-8000-000000000000"}]}):
        with pytest.raises(CoreError):
            core.db.rpc("companion_write_demo", {"p_rows": rows}, read=False)
