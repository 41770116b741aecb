"""Meals: what was eaten, by words or by photo. The words stay in the row; events hold figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from core.companion.records import checks
from core.companion.records.ledger import Ledger, Row
from core.errors import InputError

TABLE = "companion_meals"
TYPES = ("breakfast", "lunch", "dinner", "snack")


def meal_type_at(hour: int) -> str:
    """The meal of a local hour; a span ends before its upper hour."""
    if 5 <= hour < 11:
        return "breakfast"
    if 11 <= hour < 14:
        return "lunch"
    return "dinner" if 17 <= hour < 21 else "snack"


class Meals:
    """Thread-safe. Errors: InputError naming the field, NotFound, ConflictError, DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def log(
        self,
        description: str,
        *,
        meal_type: str | None = None,
        calories: float | None = None,
        protein: float | None = None,
        at: datetime | None = None,
        photo_media_id: str | None = None,
        confidence: float | None = None,
        foods: Sequence[str] = (),
        id: str | None = None,
    ) -> Row:
        """The meal, by its hour where no type is given; zero calories are a value, None is not known.

        With `photo_media_id` it comes from a photo, read with `confidence`.
        """
        moment = (at or self._ledger.now()).astimezone(self._ledger.zone)
        words = checks.text(description, "description")
        if words is None:
            raise InputError("description is empty.", field="description")
        row = {
            "meal_type": checks.choice(meal_type or meal_type_at(moment.hour), "meal_type", TYPES),
            "input_type": "photo" if photo_media_id else "text",
            "description": words,
            "calories": _known(calories, "calories", 20_000),
            "protein": _known(protein, "protein", 2_000),
            "photo_media_id": photo_media_id,
            "confidence": _known(confidence, "confidence", 1),
            "foods": list(foods),
            "day": moment.date(),
            "at": moment,
        }
        created, meal = self._ledger.insert(TABLE, row, id=id)
        if created and photo_media_id:
            facts = {"photo_media_id": photo_media_id, "confidence": confidence, "foods": len(foods)}
            self._emit("MealFromPhotoLogged", meal, time=f"{moment:%H:%M}", **facts)
        elif created:
            self._emit("MealLogged", meal, time=f"{moment:%H:%M}", input_type="text")
        return meal

    def get(self, id: str) -> Row:
        return self._ledger.one(TABLE, id, "meal")

    def correct(
        self,
        id: str,
        description: str,
        meal_type: str,
        calories: float | None,
        protein: float | None,
        *,
        new_id: str | None = None,
    ) -> Row:
        """The meal as it should have been, at the same time of the same day; the old entry is deleted."""
        old = self.get(id)
        if [old[k] for k in ("description", "meal_type", "calories", "protein")] == [
            description.strip(),
            meal_type,
            calories,
            protein,
        ]:
            return old
        made = self.log(
            description,
            meal_type=meal_type,
            calories=calories,
            protein=protein,
            at=datetime.fromisoformat(old["at"]),
            photo_media_id=old["photo_media_id"],
            confidence=old["confidence"],
            foods=old["foods"],
            id=new_id,
        )
        self.delete(id)
        return made

    def delete(self, id: str) -> Row:
        row = self._ledger.change(TABLE, id, "meal", {"deleted_at": self._ledger.now()}).row
        self._emit("MealDeleted", row)
        return row

    def restore(self, id: str) -> Row:
        """Errors: ConflictError where it is not deleted."""
        row = self._ledger.change(TABLE, id, "meal", {"deleted_at": None}, empty=(), filled=("deleted_at",)).row
        self._emit("MealRestored", row)
        return row

    def list(self, day: date) -> tuple[Row, ...]:
        """Newest first."""
        return tuple(self._ledger.read("companion_meal_list", day=day))

    def day(self, day: date) -> Mapping[str, Any]:
        """The section of the day snapshot. Source: spec/companion.md section 2."""
        found: Mapping[str, Any] = self._ledger.read("companion_food_day", day=day)
        return found

    def _emit(self, type: str, row: Row, /, **payload: Any) -> None:
        facts = {k: row[k] for k in ("meal_type", "calories", "protein")}
        self._ledger.emit(type, TABLE, row["id"], meal_id=row["id"], date=row["day"], **facts, **payload)


def _known(value: float | None, field: str, most: float) -> float | None:
    return None if value is None else checks.amount(value, field, most=most)
