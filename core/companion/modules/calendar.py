"""Calendar: appointments, as the companion sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.companion.contract import Extractor, MetricDef, Module, ModuleTool, Parameter, Section, ToolResult
from core.companion.modules.answers import Params, alone, done, honest, part
from core.companion.records.records import Records

EVENTS = (
    *("CalendarEventCreated", "CalendarEventUpdated", "CalendarEventDeleted", "CalendarEventRestored"),
    "CalendarEventMoved",
)
EMPTY = {"total": 0, "all_day": [], "upcoming": [], "next_event": None}
SHOWN = ("id", "title", "start_at", "end_at", "start_date", "end_date", "is_all_day")


def calendar(records: Records) -> Module:
    daily = records.figures.daily
    return Module(
        name="calendar",
        label="Calendar",
        content_class="personal",
        events=EVENTS,
        section=Section(records.appointments.day, EMPTY, stale_after=EVENTS),
        tools=_tools(records),
        metrics=(
            MetricDef("calendar.appointments", "calendar", "Appointments", "appointments", daily=daily("appointments")),
            MetricDef("calendar.meeting_hours", "calendar", "Hours in meetings", "h", daily=daily("meeting_hours")),
        ),
        extractors=(Extractor("dow", "CalendarEventCreated", "appointments are made"),),
        inverses=_inverses(records),
    )


def _tools(records: Records) -> tuple[ModuleTool, ...]:
    appointments = records.appointments

    def create(given: Params) -> ToolResult:
        made = appointments.create(
            given["title"],
            given["start_time"],
            given["end_time"],
            is_all_day=given.get("is_all_day", False),
            location=given.get("location"),
            description=given.get("description"),
        )
        return done("The appointment is made.", made, part(made, *SHOWN))

    def today(_: Params) -> ToolResult:
        day = records.today()
        found = appointments.list(day, day)
        return done(f"Appointments today: {len(found)}.", list(found), [part(row, *SHOWN) for row in found])

    return (
        ModuleTool(
            name="create_event",
            module="calendar",
            label="Create an appointment",
            description="Put an appointment into the default calendar.",
            execute=honest(create),
            action="own_day_change",
            default_policy="propose",
            content_class="personal",
            parameters=(
                Parameter("title", "string", "What it is, on one line.", required=True, max_length=200),
                Parameter(
                    "start_time",
                    "string",
                    "ISO date and time; without an offset in the operator's zone; a date where it lasts all day.",
                    required=True,
                ),
                Parameter("end_time", "string", "The same for its end, not before the start.", required=True),
                Parameter("is_all_day", "boolean", "It lasts whole days; times are left aside.", default=False),
                Parameter("location", "string", "Where it is.", max_length=4000),
                Parameter("description", "string", "More about it.", max_length=4000),
            ),
            reversible=True,
        ),
        ModuleTool(
            name="get_todays_events",
            module="calendar",
            label="Appointments today",
            description="The appointments of today, in order.",
            execute=honest(today),
            action="own_day",
            default_policy="auto",
            content_class="personal",
            read_only=True,
        ),
    )


def _inverses(records: Records) -> Mapping[str, Any]:
    appointments = records.appointments

    def created(event: Params) -> ToolResult:
        alone(event)
        made = event["payload"]
        appointments.delete(made["event_id"], match={"title": made["title"], **_starts(made["start_time"])})
        return done("The appointment is deleted.")

    def moved(event: Params) -> ToolResult:
        made = event["payload"]
        appointments.update(
            made["event_id"], {}, start=made["old_start"], match=_starts(made["new_start"]), is_all_day=None
        )
        return done("The appointment has its former time.")

    def deleted(event: Params) -> ToolResult:
        alone(event)
        appointments.restore(event["payload"]["event_id"])
        return done("The appointment is back.")

    return {
        "CalendarEventCreated": honest(created),
        "CalendarEventMoved": honest(moved),
        "CalendarEventDeleted": honest(deleted),
    }


def _starts(start: str) -> dict[str, str]:
    return {"start_date" if len(start) == 10 else "start_at": start}
