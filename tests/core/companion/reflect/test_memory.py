"""Facts in the database: learned, confirmed once a day, judged, forgotten. Source: spec/companion.md section 4."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.contract import Extractor
from core.companion.reflect.facts import Fact, Learned
from core.companion.reflect.memory import Facts
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, ai
from tests.support.companion_goals import KYIV, NOON, own_events, small_module

MONDAYS = Learned(
    "dow:X", "pattern", "X: mostly on Monday", {"weekdays": [0]}, ("todo",), ("a" * 8 + "-0000" * 3 + "-" + "0" * 12,)
)
FRIDAYS = Learned("dow:X", "pattern", "X: mostly on Friday", {"weekdays": [4]}, ("drink",))


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def facts(core: Core, clock: FixedClock) -> Facts:
    events = own_events(core, clock)
    rows = (
        Extractor("frequency", "DrinkLogged", "coffee is drunk", {"drink_type": "coffee"}),
        Extractor("frequency", "DrinkLogged", "water is drunk", {"drink_type": "water"}),
        Extractor("sequence", "DrinkLogged", "Coffee before the first task", {"drink_type": "coffee"}, "TaskCompleted"),
    )
    return Facts(core.db, events, clock, KYIV, (small_module(extractors=rows),))


def only(facts: Facts) -> Fact:
    (fact,) = facts.list(0.0)
    return fact


def test_once_a_day(facts: Facts, clock: FixedClock) -> None:
    """Learned at 0.3; a second look of the day changes nothing, the next day does."""
    assert facts.learn(MONDAYS) == "learned"
    assert facts.learn(MONDAYS) == "same"
    assert only(facts).confidence == 0.3
    clock.at += timedelta(days=1)
    assert facts.learn(MONDAYS) == "confirmed"
    assert (only(facts).confidence, only(facts).confirmations) == (0.5, 2)


def test_the_opposite_contradicts(facts: Facts, clock: FixedClock) -> None:
    """Once a day; when nothing speaks for it any more it is forgotten, and learned anew at 0.3."""
    facts.learn(MONDAYS)
    assert facts.learn(FRIDAYS) == "contradicted"
    facts.learn(FRIDAYS)
    assert only(facts).confidence == 0.15
    assert only(facts).content == MONDAYS.content
    clock.at += timedelta(days=1)
    facts.learn(FRIDAYS)
    assert facts.decay() == 1
    assert facts.learn(FRIDAYS) == "learned"
    assert only(facts).confidence == 0.3


def test_decay_twice_is_once(facts: Facts, clock: FixedClock) -> None:
    """The confidence follows from the day; a second run takes no more (case 36); below 0.1 it goes (37)."""
    facts.learn(MONDAYS)
    clock.at += timedelta(days=30 + 14)
    before = only(facts).confidence
    assert facts.decay() == facts.decay() == 0
    assert only(facts).confidence == before == 0.2
    clock.at += timedelta(days=21)
    assert facts.decay() == 1
    assert facts.list(0.0) == ()
    assert facts.decay() == 0


def test_modules_and_events_are_united(facts: Facts) -> None:
    """Both modules, ids once, the latest twenty."""
    ids = tuple(f"00000000-0000-0000-0000-{n:012}" for n in range(25))
    facts.learn(Learned("k", "pattern", "a", {}, ("todo",), ids[:15]))
    facts.learn(Learned("k", "pattern", "b", {}, ("drink",), ids[10:]))
    fact = only(facts)
    assert fact.source_modules == ("drink", "todo")
    assert sorted(fact.source_events) == sorted(ids[5:])
    assert fact.content == "b"


def test_a_person_judges(facts: Facts, core: Core) -> None:
    """Confirming works once a day, contradicting as often as it is said; deleting can be undone; each has its event."""
    facts.learn(MONDAYS)
    fact = only(facts)
    assert facts.judge(LOCAL_OPERATOR, fact, "confirmed") is False
    assert facts.judge(LOCAL_OPERATOR, fact, "contradicted")
    assert only(facts).confidence == 0.15
    assert facts.judge(LOCAL_OPERATOR, fact, "deleted")
    assert facts.judge(LOCAL_OPERATOR, fact, "deleted") is False
    assert facts.list(0.0) == ()
    assert facts.judge(LOCAL_OPERATOR, fact, "restored")
    stored = core.events.store.query(type="FactJudged").rows
    assert [row.payload["verdict"] for row in stored] == ["restored", "deleted", "contradicted"]
    assert stored[0].actor.kind == "user"
    with pytest.raises(Forbidden):
        facts.judge(ai("m", "M", mission_id="m", iteration_id="i", rationale="r"), fact, "deleted")


def test_reflecting_on_stored_events(facts: Facts, core: Core, clock: FixedClock) -> None:
    """Coffee and water are told apart, local days are used, a second look of the day learns nothing (case 40)."""
    events = own_events(core, clock)
    for day in range(1, 7):
        clock.at = datetime(2026, 11, 10 + day, 6, tzinfo=UTC)
        drinks = ("coffee", "water", "water")
        for drink in drinks:
            events.emit("DrinkLogged", {"entry_id": "e", "drink_type": drink, "quantity_ml": 100})
        clock.at += timedelta(hours=2)
        events.emit("TaskCompleted", {"task_id": "t"})
    events.flush()
    clock.at = NOON
    assert facts.reflect() == {"learned": 3, "forgotten": 0}
    assert facts.reflect() == {"same": 3, "forgotten": 0}
    assert {fact.content for fact in facts.list()} == {
        "Coffee is drunk once a day, on days when at all.",
        "Water is drunk 2 times a day, on days when at all.",
        "Coffee before the first task (100% of 6 days).",
    }
    assert all(len(fact.source_events) in (6, 12) for fact in facts.list())


def test_the_moment_that_an_entry_names(facts: Facts, core: Core, clock: FixedClock) -> None:
    """A drink entered at noon for 07:10 was before a task at 09:00."""
    events = own_events(core, clock)
    for day in range(11, 16):
        clock.at = datetime(2026, 11, day, 7, tzinfo=UTC)
        events.emit("TaskCompleted", {"task_id": "t"})
        clock.at += timedelta(hours=3)
        at = {"date": f"2026-11-{day}", "time": "07:10"}
        events.emit("DrinkLogged", {"entry_id": "e", "drink_type": "coffee", "quantity_ml": 100, **at})
    events.flush()
    clock.at = NOON
    facts.reflect()
    assert "Coffee before the first task (100% of 5 days)." in {fact.content for fact in facts.list()}
