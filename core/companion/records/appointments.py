"""Appointments. A timed one has two instants; an all-day one has dates alone and stays on them in any zone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from core.companion.records import checks
from core.companion.records.ledger import Change, Ledger, Row
from core.errors import InputError, NotFound

TABLE = "companion_calendar_events"
CALENDARS = "companion_calendars"
TEXTS = ("title", "description", "location")
_PUBLIC = {"start_at": "start_time", "start_date": "start_time", "end_at": "end_time", "end_date": "end_time"}


class Appointments:
    """Thread-safe. Errors: InputError naming the field, NotFound, ConflictError, DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def create(
        self,
        title: str,
        start: datetime | date | str,
        end: datetime | date | str,
        *,
        is_all_day: bool = False,
        is_recurring: bool = False,
        location: str | None = None,
        description: str | None = None,
        calendar_id: str | None = None,
        id: str | None = None,
    ) -> Row:
        """In the default calendar where none is named. The end of an all-day one is the day after it, or its day."""
        row = {
            "title": checks.title(title, "title"),
            "location": checks.text(location, "location"),
            "description": checks.text(description, "description"),
            "is_recurring": is_recurring,
            "is_all_day": is_all_day,
            **self._times(start, end, is_all_day),
        }
        row["calendar_id"] = self._calendar(calendar_id)
        created, made = self._ledger.insert(TABLE, row, id=id)
        if created:
            self._emit(
                "CalendarEventCreated",
                made,
                title=made["title"],
                start_time=_start(made),
                end_time=made["end_at"] or made["end_date"],
                is_all_day=made["is_all_day"],
                is_recurring=made["is_recurring"],
                calendar_id=made["calendar_id"],
                has_location=made["location"] is not None,
                date=self._day(made),
                minutes=_minutes(made),
            )
        return made

    def get(self, id: str) -> Row:
        return self._ledger.one(TABLE, id, "appointment")

    def update(
        self,
        id: str,
        given: Mapping[str, Any],
        *,
        start: datetime | date | str | None = None,
        end: datetime | date | str | None = None,
        is_all_day: bool | None = None,
        match: Row | None = None,
    ) -> Change:
        """Sets title, description or location, and the times; a new start emits CalendarEventMoved as well.

        Without `end` a moved appointment keeps its length.
        """
        if unknown := sorted(set(given) - set(TEXTS)):
            raise InputError(f"An appointment has no field {unknown[0]} that can be set.", field=unknown[0])
        values: dict[str, Any] = {n: checks.text(v, n) for n, v in given.items() if n != "title"}
        if "title" in given:
            values["title"] = checks.title(given["title"], "title")
        if start is not None or end is not None or is_all_day is not None:
            values |= self._moved(self.get(id), start, end, is_all_day)
        done = self._ledger.change(TABLE, id, "appointment", values, match=match)
        if done:
            self._emit("CalendarEventUpdated", done.row, fields=sorted({_PUBLIC.get(f, f) for f in done.fields}))
        if _start(done.before) != _start(done.row):
            starts = {"old_start": _start(done.before), "new_start": _start(done.row)}
            self._emit("CalendarEventMoved", done.row, title=done.row["title"], **starts)
        return done

    def put_back(self, former: Row) -> Change:
        """Texts and times of a row as they were."""
        whole = former["is_all_day"]
        start, end = (former["start_date"], former["end_date"]) if whole else (former["start_at"], former["end_at"])
        texts = {name: former[name] for name in ("title", "location")}
        return self.update(former["id"], texts, start=start, end=end, is_all_day=whole)

    def delete(self, id: str, *, match: Row | None = None) -> Row:
        now = self._ledger.now()
        row = self._ledger.change(TABLE, id, "appointment", {"deleted_at": now}, match=match).row
        self._emit("CalendarEventDeleted", row, title=row["title"], was_recurring=row["is_recurring"])
        return row

    def restore(self, id: str) -> Row:
        row = self._ledger.change(TABLE, id, "appointment", {"deleted_at": None}, empty=(), filled=("deleted_at",)).row
        self._emit("CalendarEventRestored", row, title=row["title"])
        return row

    def list(self, since: date, until: date, *, limit: int = 500) -> tuple[Row, ...]:
        """Those that touch these local days, in order, each with the local `day` on which it begins."""
        tz = self._ledger.zone.key
        return tuple(self._ledger.read("companion_calendar_list", since=since, until=until, tz=tz, limit=limit))

    def day(self, day: date) -> Mapping[str, Any]:
        """The section of the day snapshot. Source: spec/companion.md section 2."""
        ledger = self._ledger
        found: Mapping[str, Any] = ledger.read("companion_calendar_day", day=day, tz=ledger.zone.key, now=ledger.now())
        return found

    def _moved(self, row: Row, start: Any, end: Any, whole: bool | None) -> dict[str, Any]:
        whole = row["is_all_day"] if whole is None else whole
        if whole == row["is_all_day"]:
            first, last = (row["start_date"], row["end_date"]) if whole else (row["start_at"], row["end_at"])
            kind: Any = date if whole else datetime
            length = kind.fromisoformat(last) - kind.fromisoformat(first)
            if start is not None and end is None:
                begins = checks.date_of(start, "start_time") if whole else self._moment(start, "start_time")
                end = begins + length
            start, end = first if start is None else start, last if end is None else end
        elif start is None or end is None:
            raise InputError("Start and end are needed to change between all day and a time.", field="start_time")
        return {"is_all_day": whole, **self._times(start, end, whole)}

    def _times(self, start: Any, end: Any, whole: bool) -> dict[str, Any]:
        if whole:
            first, last = checks.date_of(start, "start_time"), checks.date_of(end, "end_time")
            if last < first:
                raise InputError("end_time lies before start_time.", field="end_time")
            return {
                "start_at": None,
                "end_at": None,
                "start_date": first,
                "end_date": max(last, first + timedelta(1)),
            }
        begins, ends = self._moment(start, "start_time"), self._moment(end, "end_time")
        if ends.timestamp() < begins.timestamp():
            raise InputError("end_time lies before start_time.", field="end_time")
        return {"start_at": begins, "end_at": ends, "start_date": None, "end_date": None}

    def _moment(self, value: Any, field: str) -> datetime:
        return checks.moment(value, field, self._ledger.zone)

    def _calendar(self, id: str | None) -> str:
        found = self._ledger.read("companion_calendar_id", id=id)
        if found is None:
            raise NotFound("There is no calendar to put it into.", hint="Name a calendar, or make one the default.")
        return str(found)

    def _day(self, row: Row) -> str:
        if row["is_all_day"]:
            return str(row["start_date"])
        return datetime.fromisoformat(row["start_at"]).astimezone(self._ledger.zone).date().isoformat()

    def _emit(self, type: str, row: Row, /, **payload: Any) -> None:
        self._ledger.emit(type, TABLE, row["id"], event_id=row["id"], **payload)


def _start(row: Row) -> str:
    return str(row["start_at"] or row["start_date"])


def _minutes(row: Row) -> float | None:
    if row["is_all_day"]:
        return None
    return (datetime.fromisoformat(row["end_at"]) - datetime.fromisoformat(row["start_at"])).total_seconds() / 60
