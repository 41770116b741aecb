"""Places as the companion sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from core.clock import FixedClock
from core.companion.contract import Module, ToolResult
from core.companion.records.records import Records

Call = Callable[..., ToolResult]


def test_tools(call: Call) -> None:
    """Both names of a visit; unknown places and an unknown position fail; a model sees no address."""
    place = call("create_place", name="Gym", latitude="50.45", longitude=30.52, category="sport", address="Lane 7").data
    assert call("visit_place", place_id=place["id"]).data["visit_count"] == 1
    assert call("record_visit", place_id=place["id"]).data["visit_count"] == 2
    assert not call("visit_place", place_id="7").success
    assert "Lane 7" not in str(call("get_places").llm_data)
    assert call("get_current_location").data["place"] == "Gym"


def test_no_position(call: Call) -> None:
    """Unavailable is a failure, not an invented place."""
    assert not call("get_current_location").success


def test_distance_metric(records: Records, modules: Mapping[str, Module], clock: FixedClock) -> None:
    """Kilometres between the positions of one day, none between days."""
    for minutes, lat in ((0, 50.0), (10, 50.1), (24 * 60, 55.0)):
        clock.at += timedelta(minutes=minutes)
        records.places.log(lat, 30.0)
    metric = next(m for m in modules["places"].metrics if m.id == "places.distance_km")
    assert metric.daily is not None
    days = metric.daily(date(2026, 11, 30), date(2026, 12, 1))
    assert [round(value, 1) for value in days.values()] == [11.1, 0]


def test_inverses(records: Records, undo: Callable[[str], ToolResult]) -> None:
    """A visit counts down once; a place is deleted and put back."""
    place = records.places.create("Gym", 50, 30)
    records.places.visit(place["id"])
    assert undo("PlaceVisited").success
    assert not undo("PlaceVisited").success
    assert records.places.get(place["id"])["visit_count"] == 0
    assert undo("PlaceCreated").success
    assert undo("PlaceDeleted").success
    assert records.places.list()[0]["id"] == place["id"]
