"""Checks that are too dear for every report: totals against the rows, and what the vector index finds. Once a day."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from core.clock import Clock
from core.db.client import Database
from core.errors import CoreError

log = logging.getLogger(__name__)

EVERY = timedelta(hours=24)
PART_S = 125.0  # a little above what the SQL functions give themselves
RECALL_K, RECALL_N = 10, 5


class DailyChecks:
    """What they find stands in desk_meta, so that every process and a restart know it. Thread-safe."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def due(self, found: Mapping[str, Any] | None) -> bool:
        """Whether the last ones are older than a day, or there are none."""
        return found is None or self._clock.now() - datetime.fromisoformat(found["at"]) >= EVERY

    def run(self) -> dict[str, Any]:
        """Make them all, now: {at, totals, usage, recall, seconds}; a part that failed or is missing is left out.

        Errors: DatabaseError where the result cannot be kept.
        """
        began = time.monotonic()
        found: dict[str, Any] = {}
        parts: dict[str, tuple[str, dict[str, Any], Callable[[dict[str, Any]], dict[str, Any]]]] = {
            "totals": ("desk_check_rollups", {}, _compared),
            "usage": ("desk_check_usage", {}, _compared),
            "recall": ("desk_recall_sample", {"p_k": RECALL_K, "p_n": RECALL_N}, dict),
        }
        for name, (function, params, keep) in parts.items():
            try:
                found[name] = keep(self._db.rpc(function, params, read=True, returns=dict, timeout_s=PART_S))
            except CoreError as error:
                log.warning("the daily check %s gave no answer (%s)", name, error.code)
        found["seconds"] = round(time.monotonic() - began, 2)
        return self._db.rpc("desk_keep_daily_check", {"p_found": found}, read=False, returns=dict)


def _compared(answer: dict[str, Any]) -> dict[str, Any]:
    """Whether totals and rows agree, and in how many places not: never in which, keys are for the page of dialogs."""
    return {"equal": bool(answer["equal"]), "differing": len(answer.get("differing") or ())}
