"""Drinks: logged, taken back, put back. Correcting one is logging it anew and deleting the old, so that sums add up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from core.companion.records import checks
from core.companion.records.ledger import Ledger, Row, gone
from core.errors import NotFound

TABLE = "companion_drink_entries"
TYPES = (
    *("water", "coffee", "tea", "juice", "soda", "smoothie", "milk", "beer", "wine", "cocktail", "spirit", "energy"),
    "other",
)
MOST_ML = 5000


class Drinks:
    """Thread-safe. Errors: InputError naming the field, NotFound, ConflictError, DatabaseError."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def log(
        self,
        drink_type: str,
        quantity_ml: float,
        *,
        name: str | None = None,
        at: datetime | None = None,
        preset_id: str | None = None,
        id: str | None = None,
    ) -> Row:
        """The entry; an id that is there already is that entry, unchanged. A past `at` counts for its local day."""
        kind = checks.choice(drink_type, "drink_type", TYPES)
        ml = round(checks.amount(quantity_ml, "quantity_ml", most=MOST_ML, least=0, above=True)) or 1
        moment = (at or self._ledger.now()).astimezone(self._ledger.zone)
        row = {
            "drink_type": kind,
            "quantity_ml": ml,
            "name": checks.title(name, "name") if name else kind,
            "day": moment.date(),
            "at": moment,
            "preset_id": preset_id,
        }
        created, entry = self._ledger.insert(TABLE, row, id=id)
        if created:
            facts = {"name": entry["name"], "time": f"{moment:%H:%M}", "from_preset": preset_id is not None}
            self._emit("DrinkLogged", entry, **facts)
        return entry

    def get(self, id: str) -> Row:
        return self._ledger.one(TABLE, id, "drink")

    def correct(self, id: str, drink_type: str, quantity_ml: float, *, new_id: str | None = None) -> Row:
        """The drink as it should have been, at the same time of the same day; the old entry is deleted."""
        old = self.get(id)
        if (old["drink_type"], old["quantity_ml"]) == (drink_type, quantity_ml):
            return old
        name = old["name"] if drink_type == old["drink_type"] else None
        made = self.log(drink_type, quantity_ml, name=name, at=datetime.fromisoformat(old["at"]), id=new_id)
        self.delete(id)
        return made

    def delete(self, id: str) -> Row:
        row = self._ledger.change(TABLE, id, "drink", {"deleted_at": self._ledger.now()}).row
        self._emit("DrinkEntryDeleted", row)
        return row

    def restore(self, id: str) -> Row:
        """Errors: ConflictError where it is not deleted."""
        row = self._ledger.change(TABLE, id, "drink", {"deleted_at": None}, empty=(), filled=("deleted_at",)).row
        self._emit("DrinkEntryRestored", row)
        return row

    def undo(self) -> Row:
        """Takes back the latest drink of today. Errors: NotFound where there is none."""
        answer = self._ledger.write("companion_undo_drink", day=self._ledger.today())
        if answer["outcome"] != "changed":
            raise NotFound("There is no drink of today to take back.")
        self._emit("DrinkEntryUndone", answer["row"])
        row: Row = answer["row"]
        return row

    def presets(self) -> tuple[Row, ...]:
        """Drinks for one click, in their order."""
        return tuple(self._ledger.read("companion_drink_preset_list"))

    def log_preset(self, preset_id: str, *, id: str | None = None) -> Row:
        found = next((p for p in self.presets() if p["id"] == preset_id), None)
        if found is None:
            raise gone("preset")
        return self.log(found["drink_type"], found["quantity_ml"], name=found["name"], preset_id=preset_id, id=id)

    def list(self, day: date) -> tuple[Row, ...]:
        """Newest first."""
        return tuple(self._ledger.read("companion_drink_list", day=day))

    def day(self, day: date) -> Mapping[str, Any]:
        """The section of the day snapshot. Source: spec/companion.md section 2."""
        found: Mapping[str, Any] = self._ledger.read("companion_drink_day", day=day)
        return found

    def _emit(self, type: str, row: Row, /, **payload: Any) -> None:
        facts = {"entry_id": row["id"], **{k: row[k] for k in ("drink_type", "quantity_ml")}, "date": row["day"]}
        self._ledger.emit(type, TABLE, row["id"], **facts, **payload)
