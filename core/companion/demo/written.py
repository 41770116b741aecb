"""An invented day as rows of the records' tables and as the events that writing them would have emitted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.companion.demo.week import DAYS, PLACES, Day, planned
from core.events.actor import Actor, system, user
from core.services.demo_marks import demo_id

OPERATOR = user("demo", "Demo operator")
PROJECTION = system("projection")
CALENDAR = "00000000-0000-4000-8000-0000000000ca"  # the default one: 20261202060000_create_pilot_tables.sql
WATER_GOAL = 2500  # ml, the default of companion_nutrition_goals
AHEAD = 6  # days whose appointments are known
OPEN = (  # tasks that wait: title, due in days, priority
    ("Explain the token spike of yesterday", -1, "high"),
    ("Clean up what has expired", -3, "medium"),
    ("Decide which key of the two pairs stays", 0, "high"),
    ("Write the report for support", 0, "medium"),
    ("Propose a boost for photos", 1, "medium"),
    ("Read about consent for photos", None, "low"),
)


@dataclass(frozen=True)
class Told:
    """An event to be: the same `name` always gives the same id."""

    name: tuple[object, ...]
    type: str
    at: datetime
    payload: Mapping[str, Any]
    collection: str | None
    record_id: str | None
    actor: Actor = OPERATOR

    @property
    def id(self) -> str:
        return demo_id("event", *self.name)


@dataclass
class Written:
    """Rows by table, and events; `take` keeps what is not later than `now`."""

    now: datetime
    zone: ZoneInfo
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    events: list[Told] = field(default_factory=list)

    def at(self, day: date, at: time) -> datetime:
        return datetime.combine(day, at, self.zone)

    def row(self, table: str, id: str, created: datetime, /, **columns: Any) -> None:
        plain = {k: v.isoformat() if isinstance(v, (date, datetime)) else v for k, v in columns.items()}
        made = {"id": id, "last_actor": OPERATOR.as_json(), "field_actors": {}}
        self.rows.setdefault(table, []).append(
            made | plain | {"created_at": created.isoformat(), "updated_at": created.isoformat()}
        )

    def tell(self, type: str, table: str, id: str, at: datetime, /, by: Actor | None = None, **payload: Any) -> None:
        self.events.append(Told((type, id, at.date()), type, at, payload, table, id, by or OPERATOR))


def six_weeks(now: datetime, zone: ZoneInfo) -> Written:
    """Everything up to now, oldest event first, and the appointments of the days ahead."""
    made = Written(now, zone)
    today = now.astimezone(zone).date()
    days = [planned(today - timedelta(ago), ago) for ago in range(DAYS - 1, -AHEAD - 1, -1)]
    for day in days:
        _meetings(made, day, today)
        if day.day <= today:
            _tasks(made, day)
            _drinks(made, day)
            _meals(made, day)
    _places(made, [day for day in days if day.day <= today])
    _open_tasks(made, today)
    made.events.sort(key=lambda event: (event.at, event.id))
    return made


def _meetings(made: Written, day: Day, today: date) -> None:
    for meeting in day.meetings:
        start = made.at(day.day, meeting.start)
        end = start + timedelta(minutes=meeting.minutes)
        id = demo_id("appointment", day.day, meeting.start)
        at = made.at(min(day.day, today) - timedelta(1), time(16, 5 + meeting.start.hour))
        table = "companion_calendar_events"
        made.row(table, id, at, calendar_id=CALENDAR, title=meeting.title, start_at=start, end_at=end)
        made.tell(
            "CalendarEventCreated",
            table,
            id,
            at,
            event_id=id,
            title=meeting.title,
            start_time=start.isoformat(),
            end_time=end.isoformat(),
            is_all_day=False,
            is_recurring=False,
            calendar_id=CALENDAR,
            has_location=False,
            date=day.day,
            minutes=meeting.minutes,
        )


def _tasks(made: Written, day: Day) -> None:
    for place, task in enumerate(day.tasks):
        id, at, done = demo_id("task", day.day, place), made.at(day.day, task.made), made.at(day.day, task.done)
        if at > made.now:
            continue
        _task(made, id, at, task.title, day.day, task.priority, done if done <= made.now else None)


def _task(
    made: Written, id: str, at: datetime, title: str, due: date | None, priority: str, done: datetime | None
) -> None:
    table = "companion_tasks"
    made.row(table, id, at, title=title, due_date=due, priority=priority, completed_at=done)
    made.tell("TaskCreated", table, id, at, task_id=id, title=title, due_date=due, priority=priority)
    if done is not None:
        made.tell("TaskCompleted", table, id, done, task_id=id, title=title, priority=priority, was_overdue=False)


def _open_tasks(made: Written, today: date) -> None:
    for place, (title, due, priority) in enumerate(OPEN):
        at = made.at(today - timedelta(4 if due is None or due < 0 else 1), time(17, 10 + place))
        day = None if due is None else today + timedelta(due)
        _task(made, demo_id("open task", today, place), at, title, day, priority, None)


def _drinks(made: Written, day: Day) -> None:
    taken = [("coffee", at, 200) for at in day.coffees] + [("water", at, ml) for at, ml in day.water]
    drunk = 0
    for kind, clock, ml in sorted(taken, key=lambda entry: entry[1]):
        at = made.at(day.day, clock)
        if at > made.now:
            break
        id, table = demo_id("drink", day.day, kind, clock), "companion_drink_entries"
        made.row(table, id, at, drink_type=kind, quantity_ml=ml, name=kind, day=day.day, at=at)
        facts: dict[str, Any] = {"entry_id": id, "drink_type": kind, "quantity_ml": ml, "date": day.day, "name": kind}
        made.tell("DrinkLogged", table, id, at, **facts, time=f"{clock:%H:%M}", from_preset=True)
        before, drunk = drunk, drunk + (ml if kind == "water" else 0)
        if before < WATER_GOAL <= drunk:
            reached: dict[str, Any] = {
                "date": day.day,
                "goal_ml": WATER_GOAL,
                "actual_ml": drunk,
                "drink_type": "water",
            }
            made.tell("DrinkGoalReached", table, id, at, by=PROJECTION, **reached)


def _meals(made: Written, day: Day) -> None:
    for meal in day.meals:
        at = made.at(day.day, meal.at)
        if at > made.now:
            break
        id, table = demo_id("meal", day.day, meal.kind), "companion_meals"
        made.row(
            table,
            id,
            at,
            meal_type=meal.kind,
            input_type="text",
            description=meal.words,
            calories=meal.kcal,
            protein=meal.protein,
            foods=[],
            day=day.day,
            at=at,
        )
        facts: dict[str, Any] = {
            "meal_type": meal.kind,
            "calories": meal.kcal,
            "protein": meal.protein,
            "date": day.day,
        }
        made.tell("MealLogged", table, id, at, meal_id=id, time=f"{meal.at:%H:%M}", input_type="text", **facts)


def _places(made: Written, days: list[Day]) -> None:
    counts: list[int] = [0] * len(PLACES)
    last: list[datetime | None] = [None] * len(PLACES)
    ids = [demo_id("place", name) for name, *_ in PLACES]
    begun = made.at(days[0].day, time(7, 30))
    for id, (name, category, lat, lng) in zip(ids, PLACES, strict=True):
        facts: dict[str, Any] = {"place_id": id, "name": name, "category": category, "lat": lat, "lng": lng}
        made.tell("PlaceCreated", "companion_places", id, begun, **facts)
    for at, day, place, km in _ways(made, days):
        counts[place] += 1
        last[place] = at
        visit = demo_id("visit", day, place)
        name, _, lat, lng = PLACES[place]
        here: dict[str, Any] = {"lat": lat, "lng": lng, "place_id": ids[place], "distance_km": km}
        made.row("companion_location_logs", visit, at, kind="visit", day=day, at=at, **here)
        facts = {
            "place_id": ids[place],
            "name": name,
            "visit_id": visit,
            "visit_count": counts[place],
            "date": day,
        }
        made.tell("PlaceVisited", "companion_places", ids[place], at, **facts)
    for place, (name, category, lat, lng) in enumerate(PLACES):
        known: dict[str, Any] = {"lat": lat, "lng": lng, "visit_count": counts[place], "last_visited_at": last[place]}
        made.row("companion_places", ids[place], begun, name=name, category=category, **known)


def _ways(made: Written, days: list[Day]) -> Iterator[tuple[datetime, date, int, float]]:
    """Each visit up to now, with the way from the one before it on the same day."""
    for day in days:
        before: int | None = None
        for clock, place in day.visits:
            at = made.at(day.day, clock)
            if at > made.now:
                break
            yield at, day.day, place, 0.0 if before is None else _km(PLACES[before], PLACES[place])
            before = place


def _km(a: tuple[str, str, float, float], b: tuple[str, str, float, float]) -> float:
    """Along the great circle; good enough within a city."""
    north, east = a[2] - b[2], (a[3] - b[3]) * math.cos(math.radians(a[2]))
    return round(math.hypot(north, east) * 111.19, 3)
