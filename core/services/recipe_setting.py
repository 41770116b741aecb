"""The active embedding recipe, as the database has it: changed by the switch job alone."""

from __future__ import annotations

import threading
import time
from typing import Any

from core.db.client import Database
from core.embedding.recipe import PLAIN, RECIPES, Recipe
from core.errors import CoreError

KEY = "embedding_recipe"
TTL_S = 2.0  # another process's switch is seen within it; whoever depends on it asks anew


class RecipeSetting:
    """Call it for the recipe; thread-safe. While the database does not answer, the last one known, plain at first:
    nothing can be searched then anyway."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._known: Recipe = PLAIN
        self._until = 0.0

    def __call__(self) -> Recipe:
        if time.monotonic() >= self._until:
            try:
                return self.fresh()
            except CoreError:
                pass
        return self._known

    def fresh(self) -> Recipe:
        """As the database has it now. Errors: DatabaseError."""
        rows = self._db.sample("desk_meta", "key,value", order="key", limit=1, where={"key": KEY})
        recipe = _read(rows[0]["value"] if rows else None)
        with self._lock:
            self._known, self._until = recipe, time.monotonic() + TTL_S
        return recipe


def _read(value: Any) -> Recipe:
    named = value.get("recipe") if isinstance(value, dict) else None
    return next((recipe for recipe in RECIPES if recipe == named), PLAIN)
