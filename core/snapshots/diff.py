"""Two days side by side: by identity, then by hash; what changed inside is worked out when somebody asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from core.snapshots.fields import FieldChange, field_changes
from core.snapshots.rows import known

SAME_PAYLOAD = "The stored hashes differ, the payloads do not: one of the two hashes is wrong."


@dataclass(frozen=True)
class EntityChange:
    """One entity that differs; `change` is added, removed or changed; payloads are None where there is no row."""

    entity_type: str
    source_role: str
    source_id: str
    change: str
    from_id: str | None = None
    to_id: str | None = None
    from_hash: str | None = None
    to_hash: str | None = None
    before: Any = None
    after: Any = None

    @cached_property
    def fields(self) -> tuple[FieldChange, ...]:
        """What changed inside; () for an entity that was added or removed as a whole."""
        return field_changes(self.before, self.after) if self.change == "changed" else ()

    @property
    def only_code_points(self) -> bool:
        return bool(self.fields) and all(f.only_code_points for f in self.fields)

    @property
    def note(self) -> str:
        """What a reader has to know beside the fields; mostly nothing."""
        if self.change != "changed":
            return ""
        if not self.fields:
            return SAME_PAYLOAD
        return "Only the code points differ: the texts look the same." if self.only_code_points else ""

    def as_json(self) -> dict[str, Any]:
        whose = {"entityType": self.entity_type, "sourceRole": self.source_role, "sourceId": self.source_id}
        if self.change != "changed":
            return whose
        noted = {"note": self.note} if self.note else {}
        return {**whose, "fields": [f.as_json() for f in self.fields], **noted}


@dataclass(frozen=True)
class DialogDiff:
    """One dialog between two days. `rows` may be fewer than the counts; `from_rows` 0 means that nothing was kept."""

    dialog_key: str
    day_from: str
    day_to: str
    rows: tuple[EntityChange, ...]
    added: int
    removed: int
    changed: int
    unchanged: int
    from_rows: int
    to_rows: int

    @property
    def truncated(self) -> bool:
        return len(self.rows) < self.added + self.removed + self.changed

    def as_json(self) -> dict[str, Any]:
        """The answer of GET /snapshots/diff."""
        by = {kind: [r.as_json() for r in self.rows if r.change == kind] for kind in ("added", "removed", "changed")}
        warnings = [
            {"field": name, "message": f"No snapshot of this dialog is kept for {day}: that is unknown, not empty."}
            for name, day, rows in (("from", self.day_from, self.from_rows), ("to", self.day_to, self.to_rows))
            if rows == 0
        ]
        if self.truncated:
            warnings.append(
                {"field": "changed", "message": f"Only the first {len(self.rows):,} differences are named."}
            )
        return {**by, "unchanged": self.unchanged, "warnings": warnings}


@dataclass(frozen=True)
class DialogTotals:
    """The differences of one dialog, counted."""

    dialog_key: str
    ru_id: str | None = None
    tu_id: str | None = None
    added: int = 0
    removed: int = 0
    changed: int = 0
    unchanged: int = 0
    from_rows: int = 0
    to_rows: int = 0


@dataclass(frozen=True)
class DaysDiff:
    """All dialogs between two days: totals, and one page of the dialogs that differ (`total` of them)."""

    rows: tuple[DialogTotals, ...]
    total: int
    dialogs: int
    added: int
    removed: int
    changed: int
    unchanged: int
    from_rows: int
    to_rows: int


def dialog_diff(dialog_key: str, day_from: str, day_to: str, answer: Mapping[str, Any]) -> DialogDiff:
    """From the answer of desk_snapshot_diff."""
    rows = tuple(known(EntityChange, row) for row in answer["rows"])
    whose = {"dialog_key": dialog_key, "day_from": day_from, "day_to": day_to}
    return known(DialogDiff, {**answer, **whose, "rows": rows})


def days_diff(answer: Mapping[str, Any]) -> DaysDiff:
    """From the answer of desk_snapshot_diff_days."""
    return known(DaysDiff, {**answer, "rows": tuple(known(DialogTotals, row) for row in answer["rows"])})
