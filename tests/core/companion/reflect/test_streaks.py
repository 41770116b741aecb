"""Streaks kept up by events."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.clock import FixedClock
from core.companion.contract import Measure, StreakDef
from core.companion.reflect.streaks import Streaks
from core.db.client import Database
from core.events.emitter import Events
from core.local.server import Endpoint
from tests.support.companion_events import (
    MEALS,
    STRICT_STREAK,
    TASK_STREAK,
    TASKS,
    WATER_STREAK,
    at,
    put,
    store,
    streaks_of,
    task,
    water,
)

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = date(2026, 11, 30)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def desk(endpoint: Endpoint, tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Database, Events]]:
    with store(endpoint, tmp_path, clock) as both:
        yield both


def counts(streaks: Streaks) -> dict[str, tuple[int, int]]:
    return {streak.id: (streak.current, streak.longest) for streak in streaks.all()}


def test_nothing_ever_counted(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Broken, current 0, and no last day: not today's."""
    [streak] = streaks_of(*desk, clock, TASK_STREAK).all()
    assert (streak.status, streak.current, streak.longest, streak.last_active) == ("broken", 0, 0, None)


def test_three_events_a_day_are_one_day(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """However often it is settled."""
    db, events = desk
    streaks = streaks_of(db, events, clock, TASK_STREAK)
    for days_ago in (2, 1, 0):
        put(events, *(task(events, NOON - days_ago * DAY) for _ in range(3)))
        assert streaks.settle() == (3 if days_ago < 2 else 0)
    assert streaks.settle() == 0
    assert counts(streaks) == {"tasks": (3, 3)}


def test_several_are_independent_and_coffee_is_no_water(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Water counts from its goal on, a meal by text or by photo."""
    db, events = desk
    meals = StreakDef("meals", "food", "Meals", MEALS)
    streaks = streaks_of(db, events, clock, WATER_STREAK, TASK_STREAK, meals)
    streaks.settle()
    put(events, water(events, NOON, 5000, kind="coffee"), water(events, NOON, 1999))
    put(events, at(events, NOON, "MealFromPhotoLogged", {"meal_id": "m", "date": TODAY}))
    assert counts(streaks) == {"water": (0, 0), "tasks": (0, 0), "meals": (1, 1)}
    put(events, water(events, NOON, 1))
    assert counts(streaks)["water"] == (1, 1)


def test_undoing_takes_the_day_back(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Also from the longest run: it never was one."""
    db, events = desk
    streaks = streaks_of(db, events, clock, WATER_STREAK)
    put(events, water(events, NOON - DAY, 2000), water(events, NOON, 2000))
    assert counts(streaks) == {"water": (2, 2)}
    put(events, at(events, NOON, "DrinkEntryUndone", {"drink_type": "water", "quantity_ml": 500, "date": TODAY}))
    assert counts(streaks) == {"water": (1, 1)}


def test_a_day_entered_late_closes_the_gap(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Two runs become one."""
    db, events = desk
    strict = StreakDef("water", "drink", "Water", WATER_STREAK.measure, threshold=1, grace=0)
    streaks = streaks_of(db, events, clock, strict)
    put(events, *(water(events, NOON - n * DAY, 1) for n in (0, 1, 3, 4)))
    assert counts(streaks) == {"water": (2, 2)}
    put(events, water(events, NOON, 1, day=TODAY - 2 * DAY))
    assert counts(streaks) == {"water": (5, 5)}


def test_shown_as_broken_and_counted_on_with_grace(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """One missed day goes on where there is grace and starts anew where there is none; after a long gap 0 is shown."""
    db, events = desk
    streaks = streaks_of(db, events, clock, TASK_STREAK, STRICT_STREAK)
    put(events, *(task(events, NOON - n * DAY) for n in (4, 3, 1, 0)))
    assert counts(streaks) == {"tasks": (4, 4), "strict": (2, 2)}
    clock.at = NOON + 5 * DAY
    shown = {streak.id: (streak.current, streak.longest, streak.last_active) for streak in streaks.all()}
    assert shown == {"tasks": (0, 4, TODAY), "strict": (0, 2, TODAY)}


def test_a_new_goal_does_not_change_days_gone_by(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Neither at once nor in a rebuild; today is measured by the new one."""
    db, events = desk
    goal = [1000.0]
    moving = StreakDef("water", "drink", "Water", WATER_STREAK.measure, threshold=lambda: goal[0])
    streaks = streaks_of(db, events, clock, moving)
    put(events, water(events, NOON - DAY, 1000), water(events, NOON, 1000))
    assert counts(streaks) == {"water": (2, 2)}
    goal[0] = 2000.0
    streaks.rebuild()
    assert counts(streaks) == {"water": (1, 1)}
    put(events, water(events, NOON, 1000))
    assert counts(streaks) == {"water": (2, 2)}


def test_a_closing_day_counts_once_it_is_over(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Under the limit at noon says nothing; the day after it does, with no further event. No call, no day."""
    db, events = desk
    within = StreakDef(
        "budget",
        "usage",
        "Within budget",
        Measure(("TokensLogged",), "sum", "total"),
        threshold=100,
        comparison="lte",
        closing=True,
        grace=0,
    )
    streaks = streaks_of(db, events, clock, within)
    put(events, at(events, NOON, "TokensLogged", {"total": 60}))
    assert counts(streaks) == {"budget": (0, 0)}
    clock.at = NOON + DAY
    assert counts(streaks) == {"budget": (1, 1)}
    put(events, *(at(events, NOON + DAY, "TokensLogged", {"total": 60}) for _ in range(2)))
    clock.at = NOON + 2 * DAY
    [streak] = streaks.all()
    assert (streak.status, streak.current) == ("at_risk", 1)
    clock.at = NOON + 4 * DAY
    assert counts(streaks) == {"budget": (0, 1)}


def test_figures_that_no_event_tells(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Asked of the module; a module that fails leaves the others alone."""

    def broken(first: date, last: date) -> dict[date, float]:
        raise RuntimeError("away")

    ours = StreakDef(
        "ours", "x", "Ours", TASKS, daily=lambda a, b: {TODAY: 1.0, TODAY - DAY: 1.0, TODAY - 500 * DAY: 1.0}
    )
    theirs = StreakDef("theirs", "x", "Theirs", TASKS, daily=broken)
    streaks = streaks_of(*desk, clock, theirs, ours)
    assert counts(streaks) == {"theirs": (0, 0), "ours": (2, 2)}
    assert streaks.rebuild() == {"streaks": 2, "failed": 1}


def test_seeded_by_two_processes_at_once(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """Eight look at the same moment: no failure, no second row, the same figure."""
    db, events = desk
    put(events, task(events, NOON), task(events, NOON - DAY))
    others = [streaks_of(db, events, clock, TASK_STREAK, STRICT_STREAK) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(counts, others))
    assert found == [{"tasks": (2, 2), "strict": (2, 2)}] * 8


def test_events_of_another_process_count(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """What one has settled the other does not settle again, and sees."""
    db, events = desk
    here, there = (streaks_of(db, events, clock, TASK_STREAK) for _ in range(2))
    here.settle()
    put(events, task(events, NOON))
    assert (there.settle(), here.settle()) == (1, 0)
    assert counts(here) == counts(there) == {"tasks": (1, 1)}


@pytest.mark.parametrize(
    ("moments", "last"),
    [
        (("2026-03-28T21:30Z", "2026-03-29T09:00Z", "2026-03-29T21:15Z"), date(2026, 3, 30)),
        (("2026-10-24T20:50Z", "2026-10-25T21:50Z", "2026-10-25T22:10Z"), date(2026, 10, 26)),
    ],
)
def test_the_change_of_clocks_breaks_nothing(
    desk: tuple[Database, Events], clock: FixedClock, moments: tuple[str, ...], last: date
) -> None:
    """Days of 23 and of 25 hours in Kyiv are days: three in a row, kept up as rebuilt."""
    db, events = desk
    when = [datetime.fromisoformat(moment) for moment in moments]
    clock.at = when[0]
    streaks = streaks_of(db, events, clock, TASK_STREAK, STRICT_STREAK, zone="Europe/Kyiv")
    for moment in when:
        clock.at = moment
        put(events, task(events, moment))
        streaks.settle()
    assert counts(streaks) == {"tasks": (3, 3), "strict": (3, 3)}
    assert {streak.last_active for streak in streaks.all()} == {last}
    streaks.rebuild()
    assert counts(streaks) == {"tasks": (3, 3), "strict": (3, 3)}


def test_a_day_begins_at_midnight_of_the_zone(desk: tuple[Database, Events], clock: FixedClock) -> None:
    """A minute before and a minute after midnight in Kyiv."""
    db, events = desk
    midnight = datetime(2026, 11, 30, 0, 0, tzinfo=ZoneInfo("Europe/Kyiv")).astimezone(UTC)
    put(events, task(events, midnight - timedelta(minutes=1)), task(events, midnight + timedelta(minutes=1)))
    assert counts(streaks_of(db, events, clock, TASK_STREAK, zone="Europe/Kyiv")) == {"tasks": (2, 2)}


@pytest.mark.parametrize(
    ("before", "after"), [("Asia/Singapore", "America/Los_Angeles"), ("America/Los_Angeles", "Asia/Singapore")]
)
def test_another_zone_breaks_and_doubles_nothing(
    desk: tuple[Database, Events], clock: FixedClock, before: str, after: str
) -> None:
    """Twelve mornings in one zone, then the setting changes: still twelve, and each morning after adds one.

    The page can say that earlier days were counted in the other zone.
    """
    db, events = desk
    first = datetime(2026, 11, 1, 9, tzinfo=ZoneInfo(before)).astimezone(UTC)
    streaks = streaks_of(db, events, clock, TASK_STREAK, STRICT_STREAK, zone=before)
    for n in range(12):
        clock.at = first + n * DAY
        put(events, task(events, clock.at))
        streaks.settle()
    clock.at += timedelta(minutes=30)
    moved = streaks_of(db, events, clock, TASK_STREAK, STRICT_STREAK, zone=after)
    assert counts(moved) == {"tasks": (12, 12), "strict": (12, 12)}
    moved.rebuild()
    assert counts(moved) == {"tasks": (12, 12), "strict": (12, 12)}
    assert all(streak.zone_note and before in streak.zone_note for streak in moved.all())
    local = clock.at.astimezone(ZoneInfo(after))
    for n in range(1, 6):  # mornings there from the next day on
        clock.at = (local.replace(hour=9) + n * DAY).astimezone(UTC)
        put(events, task(events, clock.at))
        moved.settle()
    found = counts(moved)
    assert 15 <= found["strict"][0] <= 17 and found["strict"] == found["tasks"]
    moved.rebuild()
    assert counts(moved) == found


KYIV = ZoneInfo("Europe/Kyiv")
SPRING = datetime(2026, 3, 29, 0, tzinfo=UTC)
HAPPENED = st.lists(
    st.tuples(
        st.integers(-20 * 24, 3 * 24 - 1),  # hours around the change of clocks
        st.sampled_from([("task", 0), ("undo", 0), ("water", 1500), ("water", 600), ("coffee", 900), ("unwater", 600)]),
        st.one_of(st.none(), st.integers(-6, 2)),  # entered for another day
    ),
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(happened=HAPPENED, cuts=st.sets(st.integers(0, 30), max_size=4))
def test_kept_up_is_as_rebuilt(
    desk: tuple[Database, Events],
    clock: FixedClock,
    dsn: str,
    happened: list[tuple[int, tuple[str, int], int | None]],
    cuts: set[int],
) -> None:
    """Whatever comes, in whatever order, settled whenever: the rows are those that a rebuild writes, and right."""
    db, events = desk
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        for table in ("companion_streak_days", "companion_streaks", "companion_cursors", "companion_events"):
            connection.execute(f"delete from {table}")
    clock.at = SPRING + 3 * DAY
    streaks = streaks_of(db, events, clock, WATER_STREAK, TASK_STREAK, STRICT_STREAK, zone="Europe/Kyiv")
    streaks.settle()
    tasks: dict[date, int] = {}
    drunk: dict[date, int] = {}
    for n, (hours, (kind, ml), shift) in enumerate(happened):
        when = SPRING + timedelta(hours=hours)
        day = when.astimezone(KYIV).date()
        named = day + (shift or 0) * DAY
        if kind in ("task", "undo"):
            put(events, at(events, when, {"task": "TaskCompleted", "undo": "TaskUncompleted"}[kind], {"task_id": "t"}))
            tasks[day] = tasks.get(day, 0) + (1 if kind == "task" else -1)
        elif kind == "unwater":
            payload = {"drink_type": "water", "quantity_ml": ml, "date": named}
            put(events, at(events, when, "DrinkEntryUndone", payload))
            drunk[named] = drunk.get(named, 0) - ml
        else:
            put(events, water(events, when, ml, day=named, kind=kind))
            drunk[named] = drunk.get(named, 0) + (ml if kind == "water" else 0)
        if n in cuts:
            streaks.settle()
    kept_up = streaks.all()
    days = {known: streaks.history(known, date(2026, 1, 1)) for known in ("water", "tasks", "strict")}
    streaks.rebuild()
    assert streaks.all() == kept_up
    assert {known: streaks.history(known, date(2026, 1, 1)) for known in days} == days
    today = clock.at.astimezone(KYIV).date()
    expected = {
        "water": longest_and_last([d for d, ml in drunk.items() if ml >= 2000 and d <= today], 1),
        "tasks": longest_and_last([d for d, n in tasks.items() if n >= 1], 1),
        "strict": longest_and_last([d for d, n in tasks.items() if n >= 1], 0),
    }
    assert {s.id: (s.longest, s.last_active) for s in kept_up} == expected


def longest_and_last(days: list[date], grace: int) -> tuple[int, date | None]:
    """The rule in its plainest form: a run goes on while no more than `grace` days are missing."""
    longest, run, before = 0, 0, None
    for day in sorted(days):
        run = run + 1 if before and (day - before).days <= grace + 1 else 1
        longest, before = max(longest, run), day
    return longest, before
