"""The plan of invented days: what is planted is there, and a day is the same whenever it is asked for."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

from core.companion.demo.week import DAYS, WATER_KEPT, planned

TODAY = date(2026, 11, 30)
PLAN = [planned(TODAY - timedelta(ago), ago) for ago in range(DAYS - 1, -1, -1)]


def test_the_same_day_again() -> None:
    """A load that broke off goes on with the same rows."""
    assert planned(TODAY - timedelta(5), 5) == planned(TODAY - timedelta(5), 5)


def test_meetings_cost_tasks_and_coffee_comes_first() -> None:
    """Clearly fewer tasks on days with more meetings; the first coffee before the first appointment, always."""
    meetings, tasks = [len(day.meetings) for day in PLAN], [len(day.tasks) for day in PLAN]
    assert np.corrcoef(meetings, tasks)[0, 1] < -0.5
    assert all(day.coffees[0] < day.meetings[0].start for day in PLAN if day.meetings)
    assert all(not day.meetings for day in PLAN if day.day.weekday() >= 5)


def test_water_is_kept_up_to_yesterday() -> None:
    """The goal of 2,500 ml on each of the last days, and not on each of those before."""
    ml = [sum(amount for _, amount in day.water) for day in PLAN]
    assert min(ml[-WATER_KEPT - 1 : -1]) >= 2500
    assert min(ml[: -WATER_KEPT - 1]) < 2500
