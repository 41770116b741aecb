"""Goals on the database: counted once, in the right period, reached once. Source: spec/companion.md section 3."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import psycopg
import pytest

from core.bootstrap import Core
from core.companion.contract import GoalMetric, GoalTarget
from core.companion.reflect.goals.draft import Draft
from core.companion.reflect.goals.goal import Goal
from core.errors import Forbidden, InputError
from core.events.actor import LOCAL_OPERATOR, ai
from tests.support.companion_goals import CALORIES, KYIV, NOON, TASKS, VISITS, WATER, Desk, desk, small_module


def make(desk: Desk, metric: GoalMetric, target: GoalTarget, title: str = "A goal") -> str:
    draft = Draft(str(uuid.uuid4()), title, "todo", metric, target)
    assert desk.goals.save(LOCAL_OPERATOR, draft).outcome == "created"
    return draft.id


def only(desk: Desk) -> Goal:
    (goal,) = desk.goals.list()
    return goal


def water(desk: Desk, at: datetime | None = None) -> None:
    desk.happened("DrinkLogged", at, entry_id="e", drink_type="water", quantity_ml=200)


def task(desk: Desk, at: datetime | None = None) -> None:
    desk.happened("TaskCompleted", at, task_id="t")


def test_a_filter_and_an_undo(core: Core) -> None:
    """Coffee does not count as water, and a glass taken back is subtracted (cases 28 and 33 of the spec)."""
    d = desk(core)
    make(d, WATER, GoalTarget(8, "day"))
    water(d)
    water(d)
    d.happened("DrinkLogged", entry_id="e", drink_type="coffee", quantity_ml=100)
    assert only(d).value == 2
    d.happened("DrinkEntryUndone", entry_id="e", drink_type="water", quantity_ml=200)
    assert only(d).value == 1
    assert only(d).percent == 12.5


def test_fifty_at_once_are_fifty_and_a_second_delivery_counts_nothing(core: Core) -> None:
    """Parallel events are all counted; each by its id once."""
    d = desk(core)
    make(d, TASKS, GoalTarget(50, "day"))
    events = [d.events.prepare("TaskCompleted", {"task_id": f"t{n}"}) for n in range(50)]
    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(d.goals.store.increment, events)) == 50
        assert sum(pool.map(d.goals.store.increment, events[:20])) == 0
    assert only(d).value == 50
    assert len(d.stored("GoalReached")) == 1


def test_reached_once_and_not_again(core: Core) -> None:
    """Crossing says so once: not for more, not after an undo, and the event names goal, period and system."""
    d = desk(core)
    goal_id = make(d, TASKS, GoalTarget(2, "day"), "Two tasks")
    for _ in range(3):
        task(d)
    for _ in range(2):
        d.happened("TaskUncompleted", task_id="t")
    task(d)
    (reached,) = d.stored("GoalReached")
    assert reached == {
        "goal_id": goal_id,
        "title": "Two tasks",
        "value": 2,
        "target": 2,
        "period": "day",
        "period_start": "2026-11-25",
    }
    (row,) = d.events.store.query(type="GoalReached").rows
    assert row.actor.kind == "system" and row.caused_by
    assert only(d).reached_at is not None


def test_handlers_hear_of_it_in_the_same_process(core: Core) -> None:
    """What SQL stored is announced on the bus."""
    d = desk(core)
    heard: list[str] = []
    d.events.on("GoalReached", lambda event: heard.append(event.meta.id))
    d.events.on_any(d.goals.track)
    make(d, TASKS, GoalTarget(1, "day"))
    d.events.emit("TaskCompleted", {"task_id": "t"})
    d.events.flush()
    assert len(heard) == 1
    assert only(d).value == 1


def test_paused_and_deleted_goals_do_not_move(core: Core) -> None:
    """What happened meanwhile is not counted afterwards either."""
    d = desk(core)
    make(d, TASKS, GoalTarget(5, "day"))
    task(d)
    d.goals.change_status(LOCAL_OPERATOR, only(d), "paused")
    missed = d.events.emit("TaskCompleted", {"task_id": "t"})
    assert missed and d.goals.store.increment(missed) == 0
    d.events.flush()
    d.clock.at += timedelta(minutes=1)
    d.goals.change_status(LOCAL_OPERATOR, only(d), "active")
    d.goals.tend()
    assert only(d).value == 1
    gone = only(d)
    d.goals.change_status(LOCAL_OPERATOR, gone, "deleted")
    task(d)
    assert d.goals.list() == ()
    d.goals.change_status(LOCAL_OPERATOR, gone, "restored")
    assert only(d).value == 1
    assert [e["new_status"] for e in d.stored("GoalStatusChanged")] == ["paused", "active", "active"]
    assert [e["old_status"] for e in d.stored("GoalStatusChanged")] == ["active", "paused", "deleted"]


def test_a_new_period_begins_with_nothing_and_each_elapsed_one_has_a_row(core: Core) -> None:
    """Reading on a later day shows 0 without an event; rolling writes empty periods too (case 30)."""
    d = desk(core)
    make(d, TASKS, GoalTarget(2, "day"))
    task(d)
    task(d)
    d.clock.at = NOON + timedelta(days=4)
    assert only(d).value == 0
    assert only(d).start.isoformat() == "2026-11-29"
    d.goals.tend()
    d.goals.tend()
    assert [(p.start.day, p.value, p.reached) for p in only(d).history] == [
        (25, 2, True),
        (26, 0, False),
        (27, 0, False),
        (28, 0, False),
    ]


def test_a_limit_is_judged_when_its_period_is_over(core: Core) -> None:
    """Not reached by the first event; kept: reached at the end, once. Broken: exceeded once, and not reached (32)."""
    d = desk(core)
    make(d, CALORIES, GoalTarget(2000, "day", "lte"))
    d.happened("MealLogged", meal_id="m", meal_type="lunch", calories=700)
    assert d.stored("GoalReached") == []
    d.clock.at += timedelta(days=1)
    d.goals.tend()
    assert [e["period_start"] for e in d.stored("GoalReached")] == ["2026-11-25"]
    for _ in range(3):
        d.happened("MealLogged", meal_id="m", meal_type="lunch", calories=1200.5)
    assert [e["value"] for e in d.stored("GoalExceeded")] == [2401]
    d.clock.at += timedelta(days=1)
    d.goals.tend()
    assert [e["period_start"] for e in d.stored("GoalReached")] == ["2026-11-25"]
    assert [(p.value, p.reached) for p in only(d).history] == [(700, True), (3601.5, False)]


def test_exactly_is_judged_when_its_period_is_over(core: Core) -> None:
    """A count that passes through the target is not a day that ended on it."""
    d = desk(core)
    make(d, TASKS, GoalTarget(1, "day", "eq"))
    task(d)
    assert d.stored("GoalReached") == []
    d.clock.at += timedelta(days=1)
    task(d)
    assert [e["period_start"] for e in d.stored("GoalReached")] == ["2026-11-25"]
    task(d)
    d.clock.at += timedelta(days=1)
    d.goals.tend()
    assert len(d.stored("GoalReached")) == 1


def test_different_values_within_a_period(core: Core) -> None:
    """The same place twice is one place; in the next week it counts anew."""
    d = desk(core)
    make(d, VISITS, GoalTarget(3, "week"))
    for place in ("a", "b", "a"):
        d.happened("PlaceVisited", place_id=place, name="x", visit_count=1)
    assert only(d).value == 2
    d.happened("PlaceVisited", NOON + timedelta(days=7), place_id="a", name="x", visit_count=2)
    assert only(d).value == 1
    assert [p.value for p in only(d).history] == [2]


def test_weeks_begin_on_monday_also_over_new_year(core: Core) -> None:
    """Sunday 23:30 in Kyiv belongs to the old week; the week over New Year is one row of seven days (case 29)."""
    d = desk(core, at=datetime(2026, 11, 29, 12, tzinfo=UTC))
    make(d, TASKS, GoalTarget(2, "week"))
    task(d, datetime(2026, 11, 29, 21, 30, tzinfo=UTC))
    task(d, datetime(2026, 11, 29, 22, 30, tzinfo=UTC))
    assert only(d).value == 1
    assert [p.value for p in only(d).history] == [1]
    d.clock.at = datetime(2027, 1, 4, 9, tzinfo=UTC)  # a Monday, before any event
    assert only(d).value == 0
    d.goals.tend()
    weeks = [(p.start.isoformat(), p.end.isoformat()) for p in only(d).history]
    assert weeks[-1] == ("2026-12-28", "2027-01-03")
    assert len(weeks) == len(set(weeks)) == 6


def test_months_begin_on_their_first_day(core: Core) -> None:
    """31 January 23:59 local is January, a minute later it is February."""
    d = desk(core, at=datetime(2027, 1, 31, 12, tzinfo=UTC))
    make(d, TASKS, GoalTarget(9, "month"))
    task(d, datetime(2027, 1, 31, 21, 59, tzinfo=UTC))
    task(d, datetime(2027, 1, 31, 22, 0, tzinfo=UTC))
    assert (only(d).value, only(d).start.isoformat(), only(d).end.isoformat()) == (1, "2027-02-01", "2027-02-28")
    assert [(p.start.isoformat(), p.value) for p in only(d).history] == [("2027-01-01", 1)]


@pytest.mark.parametrize(
    "moments",
    [
        ("2026-03-28T21:30", "2026-03-29T09:00", "2026-03-29T21:15"),
        ("2026-10-24T20:50", "2026-10-25T21:50", "2026-10-25T22:10"),
    ],
)
def test_each_day_counts_once_over_the_change_of_clocks(core: Core, moments: tuple[str, ...]) -> None:
    """A day of 23 or 25 hours is one day (case 27)."""
    at = [datetime.fromisoformat(m).replace(tzinfo=UTC) for m in moments]
    d = desk(core, at=at[0])
    make(d, TASKS, GoalTarget(1, "day"))
    for moment in at:
        task(d, moment)
    days = [e["period_start"] for e in d.stored("GoalReached")]
    assert days == [m.astimezone(KYIV).date().isoformat() for m in at]
    assert len(set(days)) == 3


def test_another_zone_does_not_celebrate_again(core: Core) -> None:
    """Five tasks of Singapore's morning fall on the day before in Los Angeles: nothing is reached twice (case 28)."""
    d = desk(core, at=datetime(2026, 11, 10, 0, 30, tzinfo=UTC), zone=ZoneInfo("Asia/Singapore"))
    make(d, TASKS, GoalTarget(5, "day"))
    for _ in range(5):
        done = d.events.emit("TaskCompleted", {"task_id": "t"})
        assert done and d.goals.store.increment(done)
    d.events.flush()
    west = desk(core, at=datetime(2026, 11, 10, 3, tzinfo=UTC), zone=ZoneInfo("America/Los_Angeles"))
    west.goals.tend()
    task(west)
    assert only(west).zone == "Asia/Singapore"
    assert only(west).value == 6
    for hours in (12, 24, 48):
        west.clock.at = datetime(2026, 11, 10, 3, tzinfo=UTC) + timedelta(hours=hours)
        west.goals.tend()
    assert [e["period_start"] for e in west.stored("GoalReached")] == ["2026-11-10"]
    assert only(west).zone == "America/Los_Angeles"


def test_what_nobody_counted_is_found_again(core: Core) -> None:
    """Stored by a process that died, or by another writer: counted once, however often it is looked for."""
    d = desk(core)
    make(d, TASKS, GoalTarget(5, "day"))
    task(d)
    for _ in range(2):
        d.events.emit("TaskCompleted", {"task_id": "t"})
    d.events.flush()
    d.goals.tend()
    d.goals.tend()
    assert only(d).value == 3


def test_a_goal_that_another_process_made(core: Core) -> None:
    """This one does not know yet what counts: what it saw meanwhile is counted as soon as it does, and reached once."""
    here, there = desk(core), desk(core)
    here.goals.track(here.events.prepare("TaskCompleted", {"task_id": "t"}))  # asked now: nothing counts
    make(there, TASKS, GoalTarget(2, "day"))
    for _ in range(2):
        event = here.events.emit("TaskCompleted", {"task_id": "t"})
        assert event is not None
        here.goals.track(event)
    assert here.events.flush() and only(here).value == 0
    assert here.goals.renew() == 1 and only(here).value == 2
    assert here.goals.renew() == 0 and len(here.stored("GoalReached")) == 1


def test_a_goal_made_at_noon_knows_the_morning_and_the_preview_agrees(core: Core) -> None:
    """What was stored in its period counts from the beginning."""
    d = desk(core)
    for _ in range(2):
        d.events.emit("DrinkLogged", {"entry_id": "e", "drink_type": "water", "quantity_ml": 200})
    d.events.emit("DrinkLogged", {"entry_id": "e", "drink_type": "coffee", "quantity_ml": 50})
    d.events.flush()
    assert d.goals.preview(WATER, "day") == 2
    made = d.goals.add(LOCAL_OPERATOR, "water-8")
    assert made.outcome == "created"
    assert only(d).value == 2
    assert d.goals.add(LOCAL_OPERATOR, "water-8").outcome == "duplicate"
    assert len(d.goals.list()) == 1


def test_entries_for_another_day(core: Core) -> None:
    """A meal dated yesterday puts that day right; one dated tomorrow waits for it."""
    d = desk(core)
    make(d, CALORIES, GoalTarget(500, "day"))
    d.clock.at += timedelta(days=1)
    d.goals.tend()
    d.happened("MealLogged", meal_id="m", meal_type="lunch", calories=600, date="2026-11-25")
    d.happened("MealLogged", meal_id="m", meal_type="lunch", calories=300, date="2026-11-27")
    assert only(d).value == 0
    assert [(p.value, p.reached) for p in only(d).history] == [(600, True)]
    d.clock.at += timedelta(days=1)
    d.goals.tend()
    assert only(d).value == 300
    assert [e["period_start"] for e in d.stored("GoalReached")] == ["2026-11-25"]


def test_a_named_figure(core: Core) -> None:
    """Read by day, judged at its end; a day without a value is not judged as 0 would be."""
    values = {NOON.date(): 0.0}
    d = desk(core, module=small_module(overdue=values))
    d.goals.add(LOCAL_OPERATOR, "overdue-0")
    assert only(d).value is None
    d.goals.tend()
    assert only(d).value == 0 and d.stored("GoalReached") == []
    d.clock.at += timedelta(days=3)
    d.goals.tend()
    assert [(p.value, p.reached) for p in only(d).history] == [(0, True), (None, None), (None, None)]
    assert len(d.stored("GoalReached")) == 1


def test_days_of_a_streak(core: Core) -> None:
    """The length that the streaks give."""
    d = desk(core, streaks=lambda: {"tasks": 7.0})
    make(d, GoalMetric("streak_days", name="tasks"), GoalTarget(7, "day"))
    d.goals.tend()
    assert only(d).value == 7
    assert len(d.stored("GoalReached")) == 1


def test_changing_what_is_counted_counts_anew(core: Core) -> None:
    """A new target keeps the value; a new metric does not."""
    d = desk(core)
    goal_id = make(d, TASKS, GoalTarget(5, "day"))
    task(d)
    d.goals.save(LOCAL_OPERATOR, Draft(goal_id, "Renamed", "todo", TASKS, GoalTarget(1, "day")))
    assert (only(d).title, only(d).value) == ("Renamed", 1)
    assert len(d.stored("GoalReached")) == 1
    d.goals.save(LOCAL_OPERATOR, Draft(goal_id, "Renamed", "todo", WATER, GoalTarget(1, "day")))
    assert only(d).value == 0
    assert [e["fields"] for e in d.stored("GoalUpdated")] == [["title", "target"], ["metric"]]


def test_titles_of_active_goals_differ(core: Core) -> None:
    """A second one is not made; resuming one beside it says why not."""
    d = desk(core)
    make(d, TASKS, GoalTarget(5, "day"), "Tasks")
    d.goals.change_status(LOCAL_OPERATOR, only(d), "paused")
    make(d, TASKS, GoalTarget(5, "day"), "tasks")
    paused = next(goal for goal in d.goals.list() if goal.status == "paused")
    with pytest.raises(InputError, match="has this title"):
        d.goals.change_status(LOCAL_OPERATOR, paused, "active")


def test_an_ai_without_a_grant_changes_nothing(core: Core) -> None:
    """Goals are a person's."""
    d = desk(core)
    actor = ai("m", "Model", mission_id="m", iteration_id="i", rationale="r")
    with pytest.raises(Forbidden):
        d.goals.add(actor, "water-8")
    assert d.goals.list() == ()


def test_old_entries_are_forgotten(core: Core, dsn: str) -> None:
    """A week after their period; the present one keeps them."""
    d = desk(core)
    make(d, TASKS, GoalTarget(5, "day"))
    task(d)
    d.clock.at += timedelta(days=9)
    task(d)
    d.goals.tend()
    with psycopg.connect(dsn) as connection:
        found = connection.execute("select count(*) from companion_goal_entries").fetchone()
    assert found == (1,)
    assert only(d).history[0].value == 1
