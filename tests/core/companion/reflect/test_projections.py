"""The snapshot of a day."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from core.clock import FixedClock
from core.companion.contract import Module
from core.companion.reflect.projections import LOOK_EVERY_S, TTL_S, Projections
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR, current_actor, run_as, user
from core.events.emitter import Events
from core.local.server import Endpoint
from tests.support.companion_events import module, put, store, task

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TODAY = date(2026, 11, 30)


class Time:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


class Counted:
    """A section that counts how often it is built, and fails when told."""

    def __init__(self) -> None:
        self.built = 0
        self.fails: Exception | None = None

    def __call__(self, day: date) -> Mapping[str, Any]:
        self.built += 1
        if self.fails:
            raise self.fails
        return {"n": self.built}


@pytest.fixture
def desk(endpoint: Endpoint, tmp_path: Path) -> Iterator[tuple[Database, Events]]:
    with store(endpoint, tmp_path, FixedClock(NOON)) as both:
        yield both


@pytest.fixture
def time() -> Time:
    return Time()


def opened(desk: tuple[Database, Events], time: Time, *modules: Module) -> Projections:
    return Projections(*desk, modules, now=time)


def test_a_section_per_module_and_errors(desk: tuple[Database, Events], time: Time) -> None:
    """The snapshot reads like a mapping; with nothing wrong `errors` is empty."""
    day = opened(desk, time, module("todo", lambda d: {"day": d}), module("drink", lambda d: {"ml": 0})).day(TODAY)
    assert dict(day) == {"todo": {"day": TODAY}, "drink": {"ml": 0}, "errors": {}}
    assert day.date == TODAY and len(day) == 3


def test_a_failing_section_is_empty_and_named(desk: tuple[Database, Events], time: Time) -> None:
    """The others stand; what it was about is not told, and the next look tries again."""
    section = Counted()
    section.fails = ZeroDivisionError("secret")
    projections = opened(desk, time, module("todo", section, empty={"n": 0}), module("drink", lambda d: {"ml": 1}))
    assert dict(projections.day(TODAY)) == {
        "todo": {"n": 0},
        "drink": {"ml": 1},
        "errors": {"todo": "ZeroDivisionError"},
    }
    section.fails = None
    assert projections.day(TODAY)["todo"] == {"n": 2} and not projections.day(TODAY).errors


def test_with_the_database_away_the_last_one_is_shown_with_its_age(desk: tuple[Database, Events], time: Time) -> None:
    """Of that day only: another day is empty."""
    section = Counted()
    projections = opened(desk, time, module("todo", section))
    projections.day(TODAY)
    section.fails = DatabaseUnavailable("away")
    time.s += TTL_S + 60
    shown = projections.day(TODAY)
    assert (shown["todo"], shown.errors) == ({"n": 1}, {"todo": DatabaseUnavailable("").code})
    assert shown.age_s == {"todo": TTL_S + 60}
    assert projections.day(date(2026, 11, 29))["todo"] == {"n": 0}


def test_kept_for_thirty_seconds(desk: tuple[Database, Events], time: Time) -> None:
    """By name and day."""
    section = Counted()
    projections = opened(desk, time, module("todo", section))
    for passed, built in ((0, 1), (TTL_S - 1, 1), (1, 2)):
        time.s += passed
        projections.day(TODAY)
        assert section.built == built
    projections.day(date(2026, 12, 1))
    assert section.built == 3


def test_an_event_makes_its_sections_stale(desk: tuple[Database, Events], time: Time) -> None:
    """Those that name its type, and no others."""
    todo, drink = Counted(), Counted()
    projections = opened(
        desk,
        time,
        module("todo", todo, stale_after=["TaskCompleted"]),
        module("drink", drink, stale_after=["DrinkLogged"]),
    )
    projections.day(TODAY)
    desk[1].emit("TaskCompleted", {"task_id": "t"})
    assert desk[1].flush()
    projections.day(TODAY)
    assert (todo.built, drink.built) == (2, 1)


def test_another_process_makes_them_stale_too(desk: tuple[Database, Events], time: Time) -> None:
    """Its events are in the store, and nobody here was told."""
    todo, drink = Counted(), Counted()
    projections = opened(
        desk,
        time,
        module("todo", todo, stale_after=["TaskCompleted"]),
        module("drink", drink, stale_after=["DrinkLogged"]),
    )
    projections.day(TODAY)
    put(desk[1], task(desk[1], NOON))
    projections.day(TODAY)
    assert todo.built == 1
    time.s += LOOK_EVERY_S
    projections.day(TODAY)
    assert (todo.built, drink.built) == (2, 1)


def test_stale_while_it_is_built(desk: tuple[Database, Events], time: Time) -> None:
    """An event that comes in the middle is in the next look."""
    projections: Projections
    built: list[int] = []

    def section(day: date) -> Mapping[str, Any]:
        built.append(1)
        if len(built) == 1:
            projections.invalidate("todo")
        return {}

    projections = opened(desk, time, module("todo", section))
    projections.day(TODAY)
    projections.day(TODAY)
    projections.day(TODAY)
    assert len(built) == 2


@pytest.mark.nobody
def test_sections_are_built_side_by_side_by_whoever_asks(desk: tuple[Database, Events], time: Time) -> None:
    """Three that wait for each other come to an end; each knows the actor; ten sessions at once build once."""
    together = threading.Barrier(3, timeout=5)
    actors = []

    def section(day: date) -> Mapping[str, Any]:
        together.wait()
        actors.append(current_actor())
        return {}

    projections = opened(desk, time, *(module(name, section) for name in ("todo", "drink", "food")))
    olena = user("olena")

    def look(_: int) -> Mapping[str, str]:
        with run_as(olena):
            return projections.day(TODAY).errors

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(look, range(10))) == [{}] * 10
    assert actors == [olena] * 3 and current_actor() != LOCAL_OPERATOR


def test_closed_it_hears_nothing(desk: tuple[Database, Events], time: Time) -> None:
    """And building goes on working, for a page that is still being drawn."""
    section = Counted()
    projections = opened(desk, time, module("todo", section, stale_after=["TaskCompleted"]))
    projections.day(TODAY)
    projections.close()
    desk[1].emit("TaskCompleted", {"task_id": "t"})
    assert desk[1].flush()
    projections.day(TODAY)
    assert section.built == 1
