"""When a rule is due: at its times, late within two hours, once. Source: spec/companion.md, RU-2 and RU-5."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from core.companion.contract import At, Every, OnEvent
from core.companion.reflect.pulse.slots import RuleState, slot_of

KYIV = ZoneInfo("Europe/Kyiv")
AT = At(((10, 0), (15, 0)))


def kyiv(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=KYIV)


@pytest.mark.parametrize(
    ("now", "slot"),
    [
        ("2026-11-25T09:59", None),
        ("2026-11-25T10:00", "2026-11-25T10:00"),
        ("2026-11-25T12:00", "2026-11-25T10:00"),
        ("2026-11-25T12:01", None),
        ("2026-11-25T15:30", "2026-11-25T15:00"),
    ],
)
def test_late_within_two_hours(now: str, slot: str | None) -> None:
    """From the minute itself on; after two hours it is skipped."""
    assert slot_of(AT, RuleState("r"), kyiv(now), KYIV) == slot


def test_once_per_slot_and_never_back() -> None:
    """A slot that was used is not open again, also after a restart (case 88); the next one is."""
    used = RuleState("r", last_slot="2026-11-25T10:00")
    assert slot_of(AT, used, kyiv("2026-11-25T10:30"), KYIV) is None
    assert slot_of(AT, used, kyiv("2026-11-25T15:00"), KYIV) == "2026-11-25T15:00"
    assert slot_of(AT, used, kyiv("2026-11-26T10:00"), KYIV) == "2026-11-26T10:00"


def test_of_several_open_ones_the_latest() -> None:
    """Two within two hours give one look."""
    close = At(((10, 0), (11, 0)))
    assert slot_of(close, RuleState("r"), kyiv("2026-11-25T11:30"), KYIV) == "2026-11-25T11:00"


def test_over_midnight_and_on_a_weekday() -> None:
    """23:30 is still open at 00:30; a Monday rule knows which day its slot is of."""
    night = At(((23, 30),), weekday=0)
    assert slot_of(night, RuleState("r"), kyiv("2026-12-01T00:30"), KYIV) == "2026-11-30T23:30"
    assert slot_of(night, RuleState("r"), kyiv("2026-12-01T23:30"), KYIV) is None


def test_over_the_change_of_clocks() -> None:
    """03:30 does not exist on 29 March and exists twice on 25 October: one look on each day."""
    rule = At(((3, 30),))
    spring = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # 04:30 there
    assert slot_of(rule, RuleState("r"), spring, KYIV) == "2026-03-29T03:30"
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    slot = slot_of(rule, RuleState("r"), first, KYIV)
    assert slot == "2026-10-25T03:30"
    assert slot_of(rule, RuleState("r", last_slot=slot), first + timedelta(hours=1), KYIV) is None


def test_learned_hours_move_a_slot() -> None:
    """The slot keeps its name, so that moving it does not give a second one on that day."""
    moved = RuleState("r", hour_shift={"10:00": 2})
    assert slot_of(AT, moved, kyiv("2026-11-25T10:30"), KYIV) is None
    assert slot_of(AT, moved, kyiv("2026-11-25T12:00"), KYIV) == "2026-11-25T10:00"


@pytest.mark.parametrize(("minutes", "due"), [(89, False), (90, True), (-5, True)])
def test_every_so_often(minutes: int, due: bool) -> None:
    """Exactly the interval is due; never run is due; a run in the future is one of a clock that was set back."""
    now = kyiv("2026-11-25T10:00")
    state = RuleState("r", last_run_at=now - timedelta(minutes=minutes))
    assert (slot_of(Every(90), state, now, KYIV) is not None) is due
    assert slot_of(Every(90), RuleState("r"), now, KYIV) is not None


def test_event_rules_have_no_slot() -> None:
    """They are woken by their event."""
    assert slot_of(OnEvent(("X",)), RuleState("r"), kyiv("2026-11-25T10:00"), KYIV) is None
