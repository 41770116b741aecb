"""Places: visits counted in the database, positions near a place, tracking, distances."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from core.clock import FixedClock
from core.companion.records.records import Records
from core.errors import ConflictError, InputError, NotFound
from tests.support.acting import as_operator

Told = Callable[..., list[Any]]
KYIV = (50.4501, 30.5234)
METRE = 1 / 111_195  # degrees of latitude


def test_visits_at_once(records: Records, told: Told) -> None:
    """Twenty parallel visits count twenty, each told with its own count (CR-2)."""
    place = records.places.create("Gym", *KYIV, category="sport")
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(as_operator(lambda _: records.places.visit(place["id"])), range(20)))
    assert records.places.get(place["id"])["visit_count"] == 20
    assert sorted(e["visit_count"] for e in told("PlaceVisited")) == list(range(1, 21))
    assert records.places.day(records.today())["visited_today"] == 1


def test_one_press_one_visit(records: Records, told: Told) -> None:
    """The same visit twice counts once, and can be taken back once."""
    place, visit = records.places.create("Gym", *KYIV), str(uuid4())
    for _ in range(2):
        records.places.visit(place["id"], id=visit)
    assert len(told("PlaceVisited")) == 1
    back = records.places.unvisit(visit)
    assert back is not None and back["visit_count"] == 0 and back["last_visited_at"] is None
    with pytest.raises(NotFound):
        records.places.unvisit(visit)
    assert len(told("PlaceVisitUndone")) == 1


def test_unknown_place(records: Records, told: Told) -> None:
    """No visit and no event for a place that is not there or was deleted."""
    gone = records.places.create("Gym", *KYIV)
    records.places.delete(gone["id"])
    for id in (gone["id"], str(uuid4()), "7"):
        with pytest.raises(NotFound):
            records.places.visit(id)
    assert told("PlaceVisited") == []


def test_a_position_near_a_place_is_a_visit(records: Records, told: Told, clock: FixedClock) -> None:
    """Within 0.1 km the nearest place is visited, counted and told; beyond, none."""
    far = records.places.create("Far", KYIV[0] + 90 * METRE, KYIV[1])
    near = records.places.create("Near", KYIV[0] + 40 * METRE, KYIV[1])
    made = records.places.log(*KYIV, accuracy=12)
    assert made["place"]["id"] == near["id"]
    assert records.places.get(near["id"])["visit_count"] == 1
    assert records.places.get(far["id"])["visit_count"] == 0
    assert [e["place_id"] for e in told("PlaceVisited")] == [near["id"]]
    clock.at += timedelta(minutes=5)
    assert records.places.log(KYIV[0] - 65 * METRE, KYIV[1])["place"] is None
    assert [e.get("place_id") for e in told("LocationLogged")] == [near["id"], None]
    assert told("LocationLogged")[1]["distance_km"] == pytest.approx(0.065, abs=0.001)


def test_not_more_often_than_every_five_minutes(records: Records, told: Told, clock: FixedClock) -> None:
    """Within five minutes a position is refused and tells nothing; of ten at once one is kept."""

    def log(_: int) -> bool:
        try:
            return bool(records.places.log(*KYIV))
        except ConflictError:
            return False

    with ThreadPoolExecutor(5) as pool:
        assert sum(pool.map(as_operator(log), range(10))) == 1
    clock.at += timedelta(seconds=299)
    with pytest.raises(ConflictError, match="five minutes"):
        records.places.log(*KYIV)
    clock.at += timedelta(seconds=1)
    records.places.log(*KYIV)
    assert len(told("LocationLogged")) == 2


def test_tracking(records: Records, told: Told, clock: FixedClock) -> None:
    """Duration and number of positions as they were; starting or stopping twice is refused."""
    with pytest.raises(ConflictError):
        records.places.track(False)
    records.places.track(True)
    with pytest.raises(ConflictError):
        records.places.track(True)
    assert records.places.day(records.today())["tracking"] is True
    for _ in range(2):
        records.places.log(*KYIV)
        clock.at += timedelta(minutes=10)
    records.places.track(False)
    assert told("TrackingStopped") == [{"duration_ms": 1_200_000, "log_count": 2}]


def test_where_one_is(records: Records, clock: FixedClock) -> None:
    """The latest position of today with the name of its place; without one there is none."""
    with pytest.raises(NotFound):
        records.places.current()
    records.places.create("Home", *KYIV)
    records.places.log(*KYIV)
    assert records.places.current()["place"] == "Home"
    clock.at += timedelta(days=1)
    with pytest.raises(NotFound):
        records.places.current()


def test_distances(records: Records) -> None:
    """Nearest first, in kilometres along the globe, also over the date line."""
    records.places.create("Lviv", 49.8397, 24.0297)
    records.places.create("Odesa", 46.4825, 30.7233)
    found = records.places.list(KYIV)
    assert [p["name"] for p in found] == ["Odesa", "Lviv"]
    assert [round(p["distance_km"]) for p in found] == [441, 468]
    records.places.create("East of it", 0, 179.9995)
    assert records.places.list((0.0, -179.9995))[0]["distance_km"] == pytest.approx(0.111, abs=0.001)
    assert all(p["distance_km"] is None for p in records.places.list())


@pytest.mark.parametrize(
    ("lat", "lng", "field"),
    [(90.1, 0, "latitude"), (-91, 0, "latitude"), (0, 180.5, "longitude"), (float("nan"), 0, "latitude")],
)
def test_positions_are_checked(records: Records, lat: float, lng: float, field: str) -> None:
    """Refused by the name of the field."""
    with pytest.raises(InputError) as refused:
        records.places.create("x", lat, lng)
    assert refused.value.field == field
