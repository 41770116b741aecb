"""Appointments: all-day ones stay on their dates in any zone (case 31), ends, moves, the default calendar."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.records.records import Records, open_records
from core.errors import InputError, NotFound

Told = Callable[..., list[Any]]
FIRST = date(2026, 12, 1)
ZONES = ("America/Los_Angeles", "Asia/Kathmandu", "UTC", "Pacific/Kiritimati")


@pytest.mark.parametrize("end", ["2026-12-01", "2026-12-02", "2026-12-02T00:00:00+05:45"])
@pytest.mark.parametrize("zone", ZONES)
def test_all_day_stays_on_its_day(core: Core, clock: FixedClock, zone: str, end: str) -> None:
    """On 1 December only: in lists, in the day and in the figures, also after the zone has changed; no hours."""
    start = "2026-12-01T00:00:00+05:45" if "T" in end else "2026-12-01"
    here = open_records(core.db, core.events, clock, ZoneInfo(zone))
    here.appointments.create("Holiday", start, end, is_all_day=True)
    for other in ZONES:
        there = open_records(core.db, core.events, clock, ZoneInfo(other))
        days = [FIRST + timedelta(n) for n in (-1, 0, 1)]
        assert [there.appointments.day(d)["total"] for d in days] == [0, 1, 0]
        assert [len(there.appointments.list(d, d)) for d in days] == [0, 1, 0]
        figures = there.figures.days(days[0], days[2])
        assert [f["appointments"] for f in figures] == [0, 1, 0]
        assert [f["meeting_hours"] for f in figures] == [0, 0, 0]


def test_naive_times_are_local(records: Records, told: Told) -> None:
    """09:30 without an offset is 09:30 in Kyiv, 07:30 UTC; length and day are told, the place is not."""
    made = records.appointments.create("Standup", "2026-12-01T09:30", "2026-12-01T10:00", location="room 4")
    assert datetime.fromisoformat(made["start_at"]) == datetime(2026, 12, 1, 7, 30, tzinfo=UTC)
    (event,) = told("CalendarEventCreated")
    assert (event["minutes"], event["date"], event["has_location"]) == (30.0, "2026-12-01", True)
    assert (event["is_all_day"], event["is_recurring"]) == (False, False)
    assert "room 4" not in str(event)


def test_upcoming(records: Records, clock: FixedClock) -> None:
    """At most five that start now or later, in order; the first is the next; the past ones count in the total."""
    for hour in (9, 14, 15, 16, 17, 18, 19):
        records.appointments.create(f"at {hour}", f"2026-11-30T{hour:02}:00", f"2026-11-30T{hour:02}:30")
    records.appointments.create("whole", "2026-11-30", "2026-11-30", is_all_day=True)
    day = records.appointments.day(records.today())
    assert day["total"] == 8
    assert [item["title"] for item in day["upcoming"]] == ["at 14", "at 15", "at 16", "at 17", "at 18"]
    assert day["next_event"]["title"] == "at 14"
    assert [item["title"] for item in day["all_day"]] == ["whole"]
    assert day["all_day"][0]["start"] == "2026-11-30"


def test_over_midnight_and_change_of_clocks(records: Records) -> None:
    """Counted on the day it begins, hours on the days they fall on; a night of 25 hours has them all."""
    records.appointments.create("Night", "2026-10-24T23:00", "2026-10-25T05:00")
    saturday, sunday = records.figures.days(date(2026, 10, 24), date(2026, 10, 25))
    assert (saturday["appointments"], sunday["appointments"]) == (1, 0)
    assert (saturday["meeting_hours"], sunday["meeting_hours"]) == (1, 6)


def test_moving_keeps_the_length(records: Records, told: Told) -> None:
    """A new start without an end; told as an update and as a move."""
    made = records.appointments.create("Talk", "2026-12-01T09:00", "2026-12-01T10:30")
    moved = records.appointments.update(made["id"], {}, start="2026-12-02T11:00").row
    assert datetime.fromisoformat(moved["end_at"]) - datetime.fromisoformat(moved["start_at"]) == timedelta(minutes=90)
    assert told("CalendarEventUpdated")[0]["fields"] == ["end_time", "start_time"]
    assert len(told("CalendarEventMoved")) == 1
    records.appointments.update(made["id"], {"title": "Talk"})
    assert len(told("CalendarEventUpdated")) == 1
    whole = records.appointments.update(made["id"], {}, start="2026-12-03", end="2026-12-03", is_all_day=True).row
    assert (whole["start_date"], whole["end_date"], whole["start_at"]) == ("2026-12-03", "2026-12-04", None)


def test_deleted_says_whether_it_recurred(records: Records, told: Told) -> None:
    """As the row has it, and it can be put back."""
    made = records.appointments.create("Yoga", "2026-12-01T09:00", "2026-12-01T10:00", is_recurring=True)
    records.appointments.delete(made["id"])
    assert told("CalendarEventDeleted") == [{"event_id": made["id"], "title": "Yoga", "was_recurring": True}]
    assert records.appointments.day(FIRST)["total"] == 0
    records.appointments.restore(made["id"])
    assert records.appointments.day(FIRST)["total"] == 1


@pytest.mark.parametrize(
    ("start", "end", "whole", "field"),
    [
        ("2026-12-01T10:00", "2026-12-01T09:59", False, "end_time"),
        ("2026-12-02", "2026-12-01", True, "end_time"),
        ("noon", "2026-12-01T09:59", False, "start_time"),
        ("2026-12-01T10:00", None, False, "end_time"),
    ],
)
def test_times_are_checked(records: Records, start: Any, end: Any, whole: bool, field: str) -> None:
    """Refused by the name of the field."""
    with pytest.raises(InputError) as refused:
        records.appointments.create("x", start, end, is_all_day=whole)
    assert refused.value.field == field


def test_no_calendar(records: Records, dsn: str) -> None:
    """Without a default calendar there is no place for it."""
    with psycopg.connect(dsn) as connection:
        connection.execute("update companion_calendars set is_default = false")
    with pytest.raises(NotFound, match="no calendar"):
        records.appointments.create("x", "2026-12-01T09:00", "2026-12-01T10:00")
