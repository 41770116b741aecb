"""Rules on the database: said once whoever looks, and not lost by a failure. Source: spec/companion.md section 6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.contract import At, Every, Nudge, OnEvent, Priority, Rule, RuleContext, Trigger
from core.companion.reflect.memory import Facts
from core.companion.reflect.pulse.feedback import Feedback
from core.companion.reflect.pulse.look import Sources
from core.companion.reflect.pulse.nudges import Nudges
from core.companion.reflect.pulse.pulse import Pulse
from core.companion.reflect.pulse.store import PulseStore, ShownNudge
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, ai
from tests.support.companion_goals import KYIV, NOON, own_events

Check = Callable[[RuleContext], Nudge | Sequence[Nudge] | None]


def say(id: str = "n", priority: Priority = "medium", **more: Any) -> Nudge:
    return Nudge(id, "water_reminder", "Title", "Body", priority, "drink", **more)


NOONS = At(((12, 0),))


def rule(check: Check, trigger: Trigger = NOONS, id: str = "r", **more: Any) -> Rule:
    return Rule(id, "A rule", "What it does", "drink", trigger, check, **more)


class Room:
    """Pulse, nudges and feedback with a clock of the test; noon in Kyiv."""

    def __init__(self, core: Core, *rules: Rule, clock: FixedClock | None = None, **sources: Any) -> None:
        self.clock = clock or FixedClock(NOON)
        self.events = own_events(core, self.clock)
        self.store = PulseStore(core.db)
        self.nudges = Nudges(self.store, self.events, self.clock, KYIV)
        self.pulse = Pulse(self.store, self.nudges, self.events, self.clock, KYIV, rules, Sources(**sources))
        self.facts = Facts(core.db, self.events, self.clock, KYIV, ())
        self.feedback = Feedback(self.store, self.facts, self.events, self.clock, rules)

    def only(self) -> ShownNudge:
        (nudge,) = self.nudges.open()
        return nudge

    def types(self) -> list[str]:
        self.events.flush()
        return [row.type for row in reversed(self.events.store.query(limit=500).rows)]


def test_two_sessions_say_it_once(core: Core) -> None:
    """In the same second, eight at once: one look, one nudge, one event (case 19)."""
    looks: list[int] = []

    def check(_: RuleContext) -> Nudge:
        looks.append(1)
        return say()

    clock = FixedClock(NOON)
    rooms = [Room(core, rule(check), clock=clock) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        said = sum(stepped.said for stepped in pool.map(lambda room: room.pulse.step(), rooms))
    assert (said, len(looks)) == (1, 1)
    assert rooms[0].only().id == "n"
    for room in rooms:
        room.events.flush()
    assert rooms[0].types().count("NudgeShown") == 1
    assert Room(core, rule(check), clock=clock).pulse.step().looked == 0


def test_one_nudge_per_step_and_period(core: Core) -> None:
    """A value that goes back and forth around a limit says each step once: 79.9, 80.1, 79.9, 80.2, 96 (case 19)."""
    spent = [0.0]

    def check(ctx: RuleContext) -> Nudge | None:
        step = max((limit for limit in (80, 85, 95) if spent[0] >= limit), default=None)
        return say(f"budget-{ctx.today}-{step}") if step else None

    over = rule(check, Every(1), resolves=lambda ctx, id: spent[0] < float(id.rpartition("-")[2]))
    rooms = [Room(core, over, clock=FixedClock(NOON)) for _ in range(2)]
    said = []
    for value in (79.9, 80.1, 79.9, 80.2, 96.0):
        spent[0] = value
        for room in rooms:
            room.clock.at += timedelta(minutes=1)
        said.append(sum(room.pulse.step().said for room in rooms))
    assert said == [0, 1, 0, 0, 1]
    with psycopg.connect(core_dsn(core)) as connection:
        found = connection.execute("select id, status from companion_nudges order by id").fetchall()
    assert found == [("budget-2026-11-25-80", "auto_resolved"), ("budget-2026-11-25-95", "open")]


def core_dsn(core: Core) -> str:
    from core.local import state as states

    state = states.read(core.settings.data_dir)
    assert state is not None
    return state.dsn


def test_a_failing_rule_keeps_its_slot_and_stops_no_other(core: Core) -> None:
    """It is tried again and said once it works, within the two hours."""
    broken = [True]

    def check(_: RuleContext) -> Nudge:
        if broken[0]:
            raise ValueError("no")
        return say("mended")

    room = Room(core, rule(check), rule(lambda _: say("other"), id="s"))
    stepped = room.pulse.step()
    assert (stepped.looked, stepped.said, stepped.failed) == (2, 1, 1)
    broken[0] = False
    room.clock.at += timedelta(minutes=30)
    assert room.pulse.step().said == 1
    assert room.pulse.step().looked == 0
    assert {nudge.id for nudge in room.nudges.open()} == {"mended", "other"}


def test_an_incomplete_day_uses_up_no_slot(core: Core) -> None:
    """A section that the rule needs failed: looked at when it is there; another section does not matter."""
    day: dict[str, Mapping[str, Any]] = {"drink": {"ml": 0}, "errors": {"drink": "timeout"}}
    needs = rule(lambda ctx: say(f"ml-{ctx.day['drink']['ml']}"), needs=("drink",))
    room = Room(core, needs, day=lambda _: day)
    assert room.pulse.step().failed == 1
    day["errors"] = {"food": "timeout"}
    assert room.pulse.step().said == 1


def test_a_rule_that_is_off_and_a_slot_that_was_missed(core: Core) -> None:
    """Switched off nothing is looked at; more than two hours late it is skipped."""
    room = Room(core, rule(lambda _: say()))
    assert room.feedback.enable(LOCAL_OPERATOR, "r", False)
    assert room.pulse.step().looked == 0
    room.feedback.enable(LOCAL_OPERATOR, "r", True)
    room.clock.at += timedelta(hours=2, minutes=1)
    assert room.pulse.step().looked == 0
    assert room.types() == ["RuleChanged", "RuleChanged"]


def test_an_event_wakes_its_rules(core: Core) -> None:
    """On the bus, once per id, with the event as its cause; a rule that fails does not stop the other."""

    def fails(_: RuleContext) -> Nudge:
        raise KeyError("x")

    def heard(ctx: RuleContext) -> Nudge:
        assert ctx.event is not None
        return say(f"reached-{ctx.event.payload['goal_id']}")

    woken = OnEvent(("GoalReached",))
    room = Room(core, rule(fails, woken, "f"), rule(heard, woken, "h"))
    room.events.on_any(room.pulse.hear)
    for _ in range(2):
        room.events.emit("GoalReached", {"goal_id": "g"})
    room.events.flush()
    assert room.only().id == "reached-g"
    (shown,) = room.events.store.query(type="NudgeShown").rows
    assert shown.caused_by is not None
    assert (shown.actor.kind, shown.actor.source) == ("system", "rule")


def test_nothing_is_read_that_no_rule_looks_at(core: Core) -> None:
    """An event rule that needs only its event costs no look at the day."""

    def never(*_: Any) -> Any:
        raise AssertionError("read")

    woken = rule(lambda _: say(), OnEvent(("GoalReached",)))
    room = Room(core, woken, day=never, streaks=never, goals=never, facts=never, correlations=never)
    room.events.on_any(room.pulse.hear)
    room.events.emit("GoalReached", {"goal_id": "g"})
    room.events.flush()
    assert room.only().id == "n"


@pytest.mark.parametrize("how", ["act", "dismiss", "snooze"])
def test_each_answer_counts_once(core: Core, how: str) -> None:
    """Two sessions press at once: one outcome with its time and hour, one event by the person."""
    room = Room(core, rule(lambda _: say()))
    room.pulse.step()
    nudge = room.only()
    room.clock.at += timedelta(seconds=90)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: getattr(room.nudges, how)(LOCAL_OPERATOR, nudge), range(4)))
    assert sum(done) == 1
    assert room.nudges.open() == ()
    with psycopg.connect(core_dsn(core)) as connection:
        found = connection.execute("select outcome, latency_ms, hour from companion_nudge_outcomes").fetchall()
    outcome = {"act": "acted", "dismiss": "dismissed", "snooze": "snoozed"}[how]
    assert found == [(outcome, 90_000, 12)]
    kind = "NudgeSnoozed" if how == "snooze" else "NudgeResolved"
    assert room.types().count(kind) == 1


def test_put_off_for_an_hour(core: Core) -> None:
    """Away, and back after the hour; then it can be acted on."""
    room = Room(core, rule(lambda _: say()))
    room.pulse.step()
    room.nudges.snooze(LOCAL_OPERATOR, room.only())
    assert room.nudges.open() == ()
    room.clock.at += timedelta(hours=1)
    assert room.nudges.act(LOCAL_OPERATOR, room.only())


def test_dismissed_is_never_again(core: Core) -> None:
    """Its id is used up, whatever the rule says later (case 92)."""
    room = Room(core, rule(lambda _: say(), Every(1)))
    room.pulse.step()
    room.nudges.dismiss(LOCAL_OPERATOR, room.only())
    room.clock.at += timedelta(minutes=5)
    assert room.pulse.step().looked == 1
    assert room.nudges.open() == ()


def test_past_its_time_and_gone_by_itself(core: Core) -> None:
    """Expired and auto-resolved are outcomes too, and by the system."""
    gone = [False]
    expiring = rule(lambda ctx: say("e", expires_at=ctx.now + timedelta(minutes=10)), id="e")
    solved = rule(lambda _: say("s"), id="s", resolves=lambda *_: gone[0])
    room = Room(core, expiring, solved)
    room.pulse.step()
    assert len(room.nudges.open()) == 2
    gone[0] = True
    room.clock.at += timedelta(minutes=11)
    assert room.pulse.step().gone == 2
    assert room.pulse.step().gone == 0
    with psycopg.connect(core_dsn(core)) as connection:
        found = connection.execute("select nudge_id, outcome from companion_nudge_outcomes order by 1").fetchall()
    assert found == [("e", "expired"), ("s", "auto_resolved")]


def test_the_order_shown(core: Core) -> None:
    """By priority, then by age; a module sees its own."""
    many = rule(lambda _: [say("c", "low"), say("a", "high"), replace(say("b", "medium"), module="food")])
    room = Room(core, many)
    room.pulse.step()
    assert [nudge.id for nudge in room.nudges.open()] == ["a", "b", "c"]
    assert [nudge.id for nudge in room.nudges.open("food")] == ["b"]


def answered(room: Room, times: int, how: str) -> None:
    for _ in range(times):
        room.clock.at += timedelta(days=1)
        room.pulse.step()
        for nudge in room.nudges.open():
            getattr(room.nudges, how)(LOCAL_OPERATOR, nudge)


def test_what_answers_teach(core: Core) -> None:
    """Five dismissals move the slot an hour, ten make it quieter, a reset takes it back; learning twice is once."""
    room = Room(core, rule(lambda ctx: say(f"n-{ctx.today}", "high"), At(((12, 0),))))
    room.clock.at = NOON - timedelta(days=20)
    answered(room, 5, "dismiss")
    assert room.feedback.learn() == 1
    assert room.feedback.learn() == 0
    (view,) = room.feedback.rules()
    assert view.state.hour_shift == {"12:00": 1}
    assert (view.acted, view.total) == (0, 5)
    assert [fact.category for fact in room.facts.list()] == ["preference"]
    room.clock.at += timedelta(hours=1)
    answered(room, 5, "dismiss")
    room.feedback.learn()
    (view,) = room.feedback.rules()
    assert (view.state.hour_shift, view.state.demoted) == ({"12:00": 2}, True)
    room.clock.at += timedelta(days=1, hours=1)
    room.pulse.step()
    assert room.only().priority == "medium"
    assert room.feedback.reset(LOCAL_OPERATOR, "r")
    (view,) = room.feedback.rules()
    assert (view.state.hour_shift, view.state.demoted, view.total) == ({}, False, 0)
    assert room.facts.list() == ()
    assert room.feedback.learn() == 0


def test_what_is_not_learnable_stays(core: Core) -> None:
    """A safety rule that nobody acts on is neither moved nor made quieter."""
    room = Room(core, rule(lambda ctx: say(f"n-{ctx.today}", "high"), learnable=False))
    room.clock.at = NOON - timedelta(days=15)
    answered(room, 12, "dismiss")
    assert room.feedback.learn() == 0
    room.clock.at += timedelta(days=1)
    room.pulse.step()
    assert room.only().priority == "high"


def test_an_ai_answers_for_nobody(core: Core) -> None:
    """Without a grant it may neither dismiss nor reset."""
    room = Room(core, rule(lambda _: say()))
    room.pulse.step()
    actor = ai("m", "M", mission_id="m", iteration_id="i", rationale="r")
    with pytest.raises(Forbidden):
        room.nudges.dismiss(actor, room.only())
    with pytest.raises(Forbidden):
        room.feedback.reset(actor, "r")


def test_an_erasure_takes_nudges_about_the_dialog(core: Core) -> None:
    """Such a nudge and its outcomes go with the person; others stay."""
    about = replace(say("about", action_tool="dialog_status", action_params={"dialog_key": "d1"}))
    room = Room(core, rule(lambda _: [about, say("other")]))
    room.pulse.step()
    for nudge in room.nudges.open():
        room.nudges.snooze(LOCAL_OPERATOR, nudge)
    core.erasures.erase("d1", "request")
    with psycopg.connect(core_dsn(core)) as connection:
        left = connection.execute("select id from companion_nudges").fetchall()
        outcomes = connection.execute("select nudge_id from companion_nudge_outcomes").fetchall()
    assert left == outcomes == [("other",)]
