"""The writes: capture in batches, pins, one batch of clean-up, the ledger, the schedule. SQL functions alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from core.db.client import Database
from core.db.rows import batches
from core.events.event import Event
from core.snapshots.rows import Snapshot

CAPTURE_BATCH = 500
CLEANUP_BATCH = 1000


@dataclass(frozen=True)
class Captured:
    """What became of a batch: new rows, changed rows of ours, equal ones, rows of upstream left as they are."""

    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    kept: int = 0
    kept_by_type: Mapping[str, int] = field(default_factory=dict)

    @property
    def written(self) -> int:
        return self.inserted + self.updated


@dataclass(frozen=True)
class CaughtUp:
    """Hashes that the ledger lacked, had wrong, and no longer keeps."""

    added: int
    corrected: int
    removed: int


class SnapshotStore:
    """Thread-safe, as its Database is."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def capture(self, rows: Sequence[Snapshot]) -> Captured:
        """Upsert, one statement per 500 rows; identities must be single. SQL: desk_capture_snapshots."""
        total: dict[str, int] = dict.fromkeys(("inserted", "updated", "unchanged", "kept"), 0)
        kept: dict[str, int] = {}
        for batch in batches([row.as_row() for row in rows], CAPTURE_BATCH):
            answer = self._write("desk_capture_snapshots", p_rows=list(batch))
            total = {name: n + int(answer[name]) for name, n in total.items()}
            for kind, n in answer["kept_by_type"].items():
                kept[kind] = kept.get(kind, 0) + int(n)
        return Captured(**total, kept_by_type=kept)

    def pin(self, snapshot_id: str, reason: str, until: datetime, event: Event) -> bool:
        """Keep it until then; False where there is no such row. SQL: desk_pin_snapshot."""
        answer = self._write(
            "desk_pin_snapshot",
            p_id=snapshot_id,
            p_reason=reason,
            p_actor=event.meta.actor.as_json(),
            p_until=until.isoformat(),
            p_event=event.row(),
        )
        return bool(answer["found"])

    def unpin(self, snapshot_id: str, event: Event) -> bool:
        """Take the pin away; False where there is none. SQL: desk_unpin_snapshot."""
        return bool(self._write("desk_unpin_snapshot", p_id=snapshot_id, p_event=event.row())["found"])

    def cleanup_batch(self, cutoff: datetime, size: int, event: Event) -> tuple[int, dict[str, int]]:
        """Delete up to `size` (1,000 at most) expired rows: how many went, and by type. SQL: desk_cleanup_snapshots."""
        answer = self._write("desk_cleanup_snapshots", p_cutoff=cutoff.isoformat(), p_batch=size, p_event=event.row())
        return int(answer["deleted"]), {name: int(n) for name, n in answer["by_type"].items()}

    def catch_up(self) -> CaughtUp:
        """Note the hashes that the triggers missed, drop those older than a year. SQL: desk_ledger_catch_up."""
        total = CaughtUp(0, 0, 0)
        more = True
        while more:
            answer = self._write("desk_ledger_catch_up")
            total = CaughtUp(
                total.added + answer["added"], total.corrected + answer["corrected"], total.removed + answer["removed"]
            )
            more = bool(answer["more"])
        return total

    def schedule(self) -> dict[str, Any]:
        """{confirmed, last_run, cron}. SQL: desk_cleanup_schedule."""
        return self._db.rpc("desk_cleanup_schedule", {}, read=True, returns=dict)

    def confirm(self, confirmed: bool, event: Event) -> dict[str, Any]:
        """Say yes or no to the daily clean-up; the schedule afterwards. SQL: desk_confirm_cleanup."""
        return self._write(
            "desk_confirm_cleanup", p_confirmed=confirmed, p_actor=event.meta.actor.as_json(), p_event=event.row()
        )

    def claim(self, day: date) -> bool:
        """Whether this process may do the daily run of that day. SQL: desk_claim_cleanup."""
        return bool(self._write("desk_claim_cleanup", p_day=day.isoformat())["taken"])

    def _write(self, name: str, **params: Any) -> dict[str, Any]:
        return self._db.rpc(name, params, read=False, returns=dict)
