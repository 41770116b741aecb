"""What is planted in an invented day, as a pure function of its date: whoever looks for patterns has these to find.

Meetings follow the weekday (most on Tuesday); the more of them, the fewer tasks are done and the more coffee is drunk;
the first coffee comes before the first appointment; the water goal is kept for the last nineteen days; Tuesday,
Thursday and Saturday lead out of the house; the dinner of Friday is rich.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, time

DAYS = 42
WATER_KEPT = 19  # full days before today
MEETINGS = (2, 4, 1, 3, 1, 0, 0)  # Monday first
CAPACITY = (8, 8, 8, 8, 7, 5, 4)  # tasks on a day without a meeting
SLOTS = (time(9, 30), time(11, 0), time(13, 30), time(15, 0), time(16, 30))

MEETING_TITLES = (
    *("Shift hand-over", "Review of the week", "Questions of support", "Sync with the prompt team", "Interview"),
    *("Planning", "Call about the import", "Show what is new", "One to one", "Incident review"),
)
TASK_TITLES = (
    *("Answer the open questions of support", "Look through the expired snapshots", "Compare the two boost profiles"),
    *("Label twenty queries", "Read the latency report", "Write the hand-over note", "Check the daily sync"),
    *("Order the test accounts", "Tidy the list of prices", "Read the new consent text", "Prepare the review"),
    *("Look at the searches without a hit", "Reply to legal", "Update the on-call plan", "Book the train"),
    *("Check the ambiguous keys", "Sort the photo descriptions", "Read about re-embedding", "Call the dentist"),
    *("Buy coffee beans", "Water the plants", "Send the expense report", "Renew the certificate"),
)
PLACES = (  # name, category, latitude, longitude; invented spots of a real city
    ("Office on the hill", "work", 50.4496, 30.5230),
    ("Gym by the river", "sport", 50.4642, 30.5350),
    ("Corner café", "food", 50.4471, 30.5103),
    ("Botanic garden", "other", 50.4149, 30.5629),
)
BREAKFASTS = (("Oatmeal with berries", 320, 11), ("Two eggs and toast", 380, 19), ("Yoghurt and granola", 290, 12))
LUNCHES = (("Borscht and bread", 520, 18), ("Chicken with rice", 640, 38), ("Lentil soup", 430, 22), ("Salad", 350, 12))
DINNERS = (("Pasta with vegetables", 610, 20), ("Fish and potatoes", 560, 34), ("Buckwheat with mushrooms", 470, 16))
FEAST = ("Pizza and a beer with friends", 1180, 41)


@dataclass(frozen=True)
class Task:
    title: str
    made: time
    done: time
    priority: str


@dataclass(frozen=True)
class Meeting:
    title: str
    start: time
    minutes: int


@dataclass(frozen=True)
class Meal:
    kind: str
    at: time
    words: str
    kcal: int
    protein: int


@dataclass(frozen=True)
class Day:
    """One day as it was, or would be; times are local."""

    day: date
    meetings: tuple[Meeting, ...]
    tasks: tuple[Task, ...]
    coffees: tuple[time, ...]
    water: tuple[tuple[time, int], ...]  # when, ml
    meals: tuple[Meal, ...]
    visits: tuple[tuple[time, int], ...]  # when, which of PLACES


def planned(day: date, ago: int) -> Day:
    """The day that is `ago` days before today, negative for one to come."""
    rng = random.Random(f"companion day {day.isoformat()}")
    meetings = _meetings(day, rng)
    return Day(
        day=day,
        meetings=meetings,
        tasks=_tasks(day, len(meetings), rng),
        coffees=_coffees(day, len(meetings), rng),
        water=_water(ago, rng),
        meals=_meals(day, rng),
        visits=_visits(day, rng),
    )


def _at(hour: int, rng: random.Random, spread: int = 50) -> time:
    return time(hour, rng.randrange(0, spread))


def _meetings(day: date, rng: random.Random) -> tuple[Meeting, ...]:
    number = MEETINGS[day.weekday()]
    if number:
        number = min(len(SLOTS), max(0, number + rng.choice((-1, 0, 0, 0, 1))))
    slots = sorted(rng.sample(SLOTS, number))
    titles = rng.sample(MEETING_TITLES, number)
    return tuple(Meeting(title, at, rng.choice((30, 60, 60))) for title, at in zip(titles, slots, strict=True))


def _tasks(day: date, meetings: int, rng: random.Random) -> tuple[Task, ...]:
    number = max(1, CAPACITY[day.weekday()] - round(1.6 * meetings) + rng.choice((-1, 0, 0, 1)))
    titles = rng.sample(TASK_TITLES, number)
    hours = sorted(rng.choice((9, 10, 10, 11, 11, 14, 15, 17)) for _ in titles)
    return tuple(
        Task(title, _at(8, rng), time(hour, rng.randrange(60)), rng.choice(("low", "medium", "medium", "high")))
        for title, hour in zip(titles, hours, strict=True)
    )


def _coffees(day: date, meetings: int, rng: random.Random) -> tuple[time, ...]:
    first = time(8, 10 + rng.randrange(40)) if day.weekday() < 5 else time(10, rng.randrange(50))
    more = min(4, (meetings + 1) // 2 + rng.choice((0, 0, 1)))
    return (first, *(_at(hour, rng) for hour in sorted(rng.sample((10, 12, 14, 15, 16), more))))


def _water(ago: int, rng: random.Random) -> tuple[tuple[time, int], ...]:
    kept = 0 < ago <= WATER_KEPT
    glasses = rng.randrange(9, 11) if kept else rng.randrange(5, 9)
    if ago == 0:
        glasses = 8
    hours = sorted(rng.sample(range(8, 22), glasses))
    large = set(rng.sample(range(glasses), 2 if kept else 1))
    return tuple((_at(hour, rng), 500 if n in large else 250) for n, hour in enumerate(hours))


def _meals(day: date, rng: random.Random) -> tuple[Meal, ...]:
    friday = day.weekday() == 4
    breakfast, lunch, dinner = rng.choice(BREAKFASTS), rng.choice(LUNCHES), FEAST if friday else rng.choice(DINNERS)
    meals = [Meal("lunch", _at(12, rng), *lunch), Meal("dinner", _at(19, rng), *dinner)]
    if rng.random() < 0.85:
        meals.insert(0, Meal("breakfast", _at(7 if day.weekday() < 5 else 9, rng), *breakfast))
    return tuple(meals)


def _visits(day: date, rng: random.Random) -> tuple[tuple[time, int], ...]:
    weekday = day.weekday()
    if weekday in (1, 3):
        return ((_at(9, rng, 20), 0), (_at(18, rng), 1))
    if weekday == 5:
        return ((_at(11, rng), 2), (_at(14, rng), 3))
    return ((_at(17, rng), 2),) if rng.random() < 0.15 else ()
