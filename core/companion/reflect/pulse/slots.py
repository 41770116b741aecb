"""When a rule is to be looked at: the slot that is open now, by its trigger and what was used before. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.companion.contract import At, Every, Trigger

LATE = timedelta(hours=2)
# A run that lies further ahead is one of a clock that was set back.
AHEAD = timedelta(minutes=1)


@dataclass(frozen=True)
class RuleState:
    """What companion_rule_state holds of a rule; `hour_shift` moves a slot by hours, by its time."""

    rule_id: str
    enabled: bool = True
    last_run_at: datetime | None = None
    last_slot: str | None = None
    hour_shift: Mapping[str, int] = field(default_factory=dict)
    demoted: bool = False
    learned_from: datetime | None = None
    last_nudge_at: datetime | None = None


def slot_of(trigger: Trigger, state: RuleState, now: datetime, zone: ZoneInfo) -> str | None:
    """The name of the slot to use now, None for none. A slot stays open for two hours after its time; of several that
    are open only the latest is used. Names sort by time."""
    if isinstance(trigger, Every):
        last = state.last_run_at
        open_now = last is None or last > now + AHEAD or now - last >= timedelta(minutes=trigger.minutes)
        return now.astimezone(UTC).isoformat(timespec="milliseconds") if open_now else None
    if not isinstance(trigger, At):
        return None
    today = now.astimezone(zone).date()
    open_slots = [
        (at, name)
        for day in (today - timedelta(days=1), today)
        if trigger.weekday is None or trigger.weekday == day.weekday()
        for name, at in _times(trigger, state, day, zone)
        if at <= now <= at + LATE
    ]
    if not open_slots:
        return None
    slot = max(open_slots)[1]
    return slot if state.last_slot is None or slot > state.last_slot else None


def time_name(hour: int, minute: int) -> str:
    return f"{hour:02}:{minute:02}"


def _times(trigger: At, state: RuleState, day: date, zone: ZoneInfo) -> list[tuple[str, datetime]]:
    found = []
    for hour, minute in trigger.times:
        name = time_name(hour, minute)
        moved = min(23, hour + int(state.hour_shift.get(name, 0)))
        # Through UTC: an hour that does not exist on that day becomes the one after the gap.
        at = datetime.combine(day, time(moved, minute), zone).astimezone(UTC)
        found.append((f"{day}T{name}", at))
    return found
