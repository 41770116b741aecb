"""Appointments as the companion sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from core.companion.contract import Module, ToolResult
from core.companion.records.records import Records

Call = Callable[..., ToolResult]


def test_tools(call: Call) -> None:
    """Made, listed for today; an end before the start fails; a model sees no place and no description."""
    times = {"start_time": "2026-11-30T15:00", "end_time": "2026-11-30T16:00"}
    assert call("create_event", title="Talk", location="room 4", description="about us", **times).success
    assert call("create_event", title="Feast", start_time="2026-11-30", end_time="2026-11-30", is_all_day="yes").success
    failed = call("create_event", title="x", start_time=times["end_time"], end_time=times["start_time"])
    assert not failed.success
    today = call("get_todays_events")
    assert len(today.data) == 2
    assert "room 4" not in str(today.llm_data)
    assert "about us" not in str(today.llm_data)


def test_metrics(records: Records, modules: Mapping[str, Module]) -> None:
    """Appointments by the day they begin, hours without all-day ones."""
    records.appointments.create("Talk", "2026-11-30T09:00", "2026-11-30T10:30")
    records.appointments.create("Feast", "2026-11-30", "2026-11-30", is_all_day=True)
    found: dict[str, Any] = {metric.id: metric.daily for metric in modules["calendar"].metrics}
    day = date(2026, 11, 30)
    assert found["calendar.appointments"](day, day) == {day: 2}
    assert found["calendar.meeting_hours"](day, day) == {day: 1.5}


def test_inverses(records: Records, undo: Callable[[str], ToolResult]) -> None:
    """Back to the former start with its length; then gone; then there again. A later move is a conflict."""
    made = records.appointments.create("Talk", "2026-12-01T09:00", "2026-12-01T10:00")
    records.appointments.update(made["id"], {}, start="2026-12-02T09:00", end="2026-12-02T10:00")
    assert undo("CalendarEventMoved").success
    back = records.appointments.get(made["id"])
    assert (datetime.fromisoformat(back["start_at"]), back["end_at"]) == (
        datetime.fromisoformat(made["start_at"]),
        made["end_at"],
    )
    assert undo("CalendarEventCreated").success
    assert undo("CalendarEventDeleted").success
    records.appointments.update(made["id"], {"title": "Another talk"})
    assert not undo("CalendarEventCreated").success
