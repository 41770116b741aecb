"""Drinks: sums of the day, presets, undo, corrections, many at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from core.clock import FixedClock
from core.companion.records.records import Records
from core.errors import ConflictError, InputError, NotFound
from tests.support.acting import as_operator

Told = Callable[..., list[Any]]


def test_the_day(records: Records) -> None:
    """Water against its goal, not capped; coffee and the rest apart; deleted ones are none."""
    assert records.drinks.day(records.today())["total"] == {"ml": 0, "count": 0}
    records.drinks.log("water", 2750)
    records.drinks.log("coffee", 200)
    records.drinks.log("tea", 300)
    gone = records.drinks.log("beer", 500)
    records.drinks.delete(gone["id"])
    assert records.drinks.day(records.today()) == {
        "water": {"ml": 2750, "goal": 2500, "percent": 110},
        "coffee": {"ml": 200, "count": 1},
        "other": {"ml": 300, "count": 1},
        "total": {"ml": 3250, "count": 3},
    }


def test_fifty_at_once(records: Records, told: Told) -> None:
    """Fifty parallel drinks are fifty rows, fifty events, one sum (CR-2)."""
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(as_operator(lambda _: records.drinks.log("water", 100)), range(50)))
    assert records.drinks.day(records.today())["water"]["ml"] == 5000
    assert len(told("DrinkLogged")) == 50


def test_one_press_one_drink(records: Records, told: Told) -> None:
    """The same press twice at the same moment writes once and tells once (case 24)."""
    id = str(uuid4())
    preset = records.drinks.presets()[0]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(as_operator(lambda _: records.drinks.log_preset(preset["id"], id=id)), range(8)))
    (event,) = told("DrinkLogged")
    assert (event["name"], event["from_preset"], event["quantity_ml"]) == (preset["name"], True, preset["quantity_ml"])
    assert (event["date"], event["time"]) == ("2026-11-30", "14:00")


def test_undo(records: Records, told: Told, clock: FixedClock) -> None:
    """The latest of today, what it was in the event; yesterday's stay, and nothing to undo is no event."""
    records.drinks.log("tea", 250, at=clock.now() - timedelta(days=1))
    records.drinks.log("water", 250)
    clock.at += timedelta(minutes=1)
    records.drinks.log("coffee", 200)
    assert records.drinks.undo()["drink_type"] == "coffee"
    assert records.drinks.undo()["drink_type"] == "water"
    with pytest.raises(NotFound):
        records.drinks.undo()
    assert [(e["drink_type"], e["quantity_ml"]) for e in told("DrinkEntryUndone")] == [("coffee", 200), ("water", 250)]


def test_one_undo_for_two_sessions(records: Records) -> None:
    """Two undos of one drink at the same moment: one takes it back, the other finds none."""
    records.drinks.log("water", 250)

    def undo(_: int) -> bool:
        try:
            return bool(records.drinks.undo())
        except NotFound:
            return False

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(as_operator(undo), range(2))) == [False, True]


def test_correcting(records: Records, told: Told, clock: FixedClock) -> None:
    """Deleted and logged anew at the same time, so that every sum over events is right; no change is no event."""
    entry = records.drinks.log("water", 250, at=clock.now() - timedelta(hours=2))
    assert records.drinks.correct(entry["id"], "water", 250)["id"] == entry["id"]
    made = records.drinks.correct(entry["id"], "water", 300)
    assert (made["at"], made["quantity_ml"]) == (entry["at"], 300)
    assert records.drinks.day(records.today())["water"]["ml"] == 300
    assert [len(told(type)) for type in ("DrinkLogged", "DrinkEntryDeleted")] == [2, 1]


def test_put_back(records: Records, told: Told) -> None:
    """What was deleted comes back once."""
    entry = records.drinks.log("water", 250)
    records.drinks.delete(entry["id"])
    records.drinks.restore(entry["id"])
    with pytest.raises(ConflictError):
        records.drinks.restore(entry["id"])
    assert told("DrinkEntryRestored")[0]["date"] == "2026-11-30"


def test_day_of_a_late_drink(records: Records) -> None:
    """23:30 UTC is the next day in Kyiv."""
    entry = records.drinks.log("water", 250, at=datetime(2026, 11, 29, 23, 30, tzinfo=UTC))
    assert entry["day"] == "2026-11-30"


@pytest.mark.parametrize("ml", [0, -1, 5001, float("nan"), float("inf"), True, "250", None])
def test_quantities(records: Records, ml: Any) -> None:
    """More than nothing, at most five litres, a number."""
    with pytest.raises(InputError) as refused:
        records.drinks.log("water", ml)
    assert refused.value.field == "quantity_ml"
