"""One entity over its days. Pure; test_store has it over the database."""

from __future__ import annotations

from core.snapshots.history import history_of

DAYS = [
    {"sync_date": "2026-11-30", "id": "c", "payload": {"n": 2}, "previous_date": "2026-11-28", "changed": True},
    {"sync_date": "2026-11-28", "id": "b", "payload": {"n": 1}, "previous_date": "2026-01-05", "changed": True},
    {"sync_date": "2026-01-05", "id": None, "payload": None, "previous_date": None, "changed": False},
]


def test_what_changed_while_both_payloads_are_kept() -> None:
    """Fields against the known day before it, also over a gap; None where a payload has gone."""
    found = history_of({"rows": DAYS, "days": 3, "stored": 2, "changes": 2, "first": "2026-01-05"})
    assert found.last_change == found.rows[0]
    assert [f.as_json() for f in found.rows[0].fields or ()] == [{"op": "replace", "path": "/n", "value": 2}]
    assert found.rows[1].fields is None
    assert found.rows[2].fields is None
    assert [row.stored for row in found.rows] == [True, True, False]


def test_never_changed() -> None:
    """No change, no day of one."""
    found = history_of({"rows": [DAYS[2]], "days": 1, "stored": 0, "changes": 0, "first": "2026-01-05"})
    assert found.last_change is None
