"""Places, visits, positions. A position near a known place is a visit of it; counts are made in the database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from core.companion.records import checks
from core.companion.records.ledger import Ledger, Row, gone, known_id, new_id
from core.errors import ConflictError, InputError, NotFound

TABLE = "companion_places"
LOGS = "companion_location_logs"
CATEGORIES = (
    *("home", "work", "food", "shopping", "sport", "culture", "nature", "transport", "health", "education"),
    *("nightlife", "other"),
)
EVERY_S = 300
RADIUS_KM = 0.1


class Places:
    """Thread-safe. Errors: InputError naming the field, NotFound, ConflictError, DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def create(
        self,
        name: str,
        latitude: float,
        longitude: float,
        *,
        category: str = "other",
        address: str | None = None,
        id: str | None = None,
    ) -> Row:
        """Degrees, north and east positive; an id that is there already is that place, unchanged."""
        lat, lng = _position(latitude, longitude)
        row = {
            "name": checks.title(name, "name"),
            "lat": lat,
            "lng": lng,
            "category": checks.choice(category, "category", CATEGORIES),
            "address": checks.text(address, "address"),
        }
        created, place = self._ledger.insert(TABLE, row, id=id)
        if created:
            self._emit("PlaceCreated", place, **{k: place[k] for k in ("category", "lat", "lng")})
        return place

    def get(self, id: str) -> Row:
        return self._ledger.one(TABLE, id, "place")

    def update(self, id: str, name: str, category: str, address: str | None) -> Row:
        values = {
            "name": checks.title(name, "name"),
            "category": checks.choice(category, "category", CATEGORIES),
            "address": checks.text(address, "address"),
        }
        done = self._ledger.change(TABLE, id, "place", values)
        if done:
            facts = {"place_id": done.row["id"], "fields": list(done.fields)}
            self._ledger.emit("PlaceUpdated", TABLE, done.row["id"], **facts)
        return done.row

    def delete(self, id: str, *, match: Row | None = None) -> Row:
        row = self._ledger.change(TABLE, id, "place", {"deleted_at": self._ledger.now()}, match=match).row
        self._emit("PlaceDeleted", row)
        return row

    def restore(self, id: str) -> Row:
        """Errors: ConflictError where it is not deleted."""
        row = self._ledger.change(TABLE, id, "place", {"deleted_at": None}, empty=(), filled=("deleted_at",)).row
        self._emit("PlaceRestored", row)
        return row

    def visit(self, place_id: str, *, id: str | None = None) -> Row:
        """One visit more; the place afterwards, with `visit_id`. The same id twice is one visit."""
        visit = new_id(id)
        day = self._ledger.today()
        answer = self._ledger.write("companion_visit_place", id=visit, place_id=known_id(place_id, "place"), day=day)
        if answer["outcome"] == "missing":
            raise gone("place")
        if answer["outcome"] == "visited":
            self._visited(answer["place"], visit, day)
        return {**answer["place"], "visit_id": visit}

    def unvisit(self, visit_id: str) -> Row | None:
        """Takes one visit back; the place, or None where that is gone. Errors: NotFound for no such visit."""
        answer = self._ledger.write("companion_unvisit_place", id=known_id(visit_id, "visit"))
        if answer["outcome"] == "missing":
            raise gone("visit")
        place: Row | None = answer["place"]
        if place is not None:
            facts = {"visit_id": visit_id, "visit_count": place["visit_count"], "date": answer["day"]}
            self._emit("PlaceVisitUndone", place, **facts)
        return place

    def forget(self, log_id: str) -> None:
        """Takes a position or a visit back, with the visit it counted as. Errors: NotFound."""
        row = self._ledger.one(LOGS, log_id, "position")
        if row["place_id"] is not None:
            self.unvisit(log_id)
            return
        self._ledger.change(LOGS, log_id, "position", {"deleted_at": self._ledger.now()})
        self._ledger.emit("LocationForgotten", LOGS, log_id, log_id=log_id, date=row["day"])

    def log(self, latitude: float, longitude: float, *, accuracy: float | None = None, id: str | None = None) -> Row:
        """The position, with `place` where it is within 0.1 km of one, which counts as a visit of the nearest.

        Errors: ConflictError within five minutes of the position before.
        """
        lat, lng = _position(latitude, longitude)
        log_id, day = new_id(id), self._ledger.today()
        answer = self._ledger.write(
            "companion_log_location",
            id=log_id,
            lat=lat,
            lng=lng,
            accuracy=None if accuracy is None else checks.amount(accuracy, "accuracy"),
            day=day,
            every_s=EVERY_S,
            radius_km=RADIUS_KM,
        )
        if answer["outcome"] == "early":
            raise ConflictError(
                "A position was noted less than five minutes ago.", hint=f"Try again in {answer['wait_s']} s."
            )
        if answer["outcome"] == "same":
            return self._ledger.one(LOGS, log_id, "position")
        made, place = answer["log"], answer["place"]
        facts = {k: made[k] for k in ("lat", "lng", "accuracy", "place_id", "distance_km")}
        self._ledger.emit("LocationLogged", LOGS, log_id, log_id=log_id, date=day, **facts)
        if place is not None:
            self._visited(place, log_id, day)
        return {**made, "place": place}

    def track(self, on: bool) -> None:
        """Start or stop noting positions. Errors: ConflictError where it is so already."""
        made = self._ledger.write("companion_track", on=on)
        if made is None:
            raise ConflictError("Tracking is on already." if on else "Tracking is not on.")
        if on:
            self._ledger.emit(
                "TrackingStarted", "companion_tracking_sessions", made["id"], timestamp=made["started_at"]
            )
            return
        lasted = datetime.fromisoformat(made["stopped_at"]) - datetime.fromisoformat(made["started_at"])
        facts = {"duration_ms": lasted.total_seconds() * 1000, "log_count": made["log_count"]}
        self._ledger.emit("TrackingStopped", "companion_tracking_sessions", made["id"], **facts)

    def current(self) -> Mapping[str, Any]:
        """Where the operator was last today. Errors: NotFound where nobody said."""
        found: Mapping[str, Any] | None = self.day(self._ledger.today()).get("current_location")
        if found is None:
            raise NotFound("No position is known today.", hint="Enter one on the Places page.")
        return found

    def list(self, near: tuple[float, float] | None = None) -> tuple[Row, ...]:
        """Nearest first with `distance_km` where a position is given, else by name."""
        lat, lng = near or (None, None)
        return tuple(self._ledger.read("companion_place_list", lat=lat, lng=lng))

    def visits(self, day: date) -> tuple[Row, ...]:
        """Positions and visits of a day, newest first."""
        return tuple(self._ledger.read("companion_visit_list", day=day))

    def day(self, day: date) -> Mapping[str, Any]:
        """The section of the day snapshot. Source: spec/companion.md section 2."""
        found: Mapping[str, Any] = self._ledger.read("companion_places_day", day=day)
        return found

    def _visited(self, place: Row, visit_id: str, day: date) -> None:
        self._emit("PlaceVisited", place, visit_id=visit_id, visit_count=place["visit_count"], date=day)

    def _emit(self, type: str, place: Row, /, **payload: Any) -> None:
        self._ledger.emit(type, TABLE, place["id"], place_id=place["id"], name=place["name"], **payload)


def _position(latitude: float, longitude: float) -> tuple[float, float]:
    for value, field, most in ((latitude, "latitude", 90), (longitude, "longitude", 180)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not -most <= value <= most:
            raise InputError(f"{field} is a number from -{most} to {most}.", field=field)
    return float(latitude), float(longitude)
