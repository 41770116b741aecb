"""The answer of a comparison as the API gives it. Pure."""

from __future__ import annotations

from typing import Any

from core.snapshots.diff import SAME_PAYLOAD, EntityChange, days_diff, dialog_diff

COUNTS = {"added": 0, "removed": 0, "changed": 1, "unchanged": 4, "from_rows": 5, "to_rows": 5}


def change(before: Any, after: Any) -> dict[str, Any]:
    return {
        "entity_type": "profile",
        "source_role": "ru",
        "source_id": "ru",
        "change": "changed",
        "before": before,
        "after": after,
        "a_column_of_later": 1,
    }


def test_fields_are_worked_out_from_the_payloads() -> None:
    """Both payloads give the operations; columns that we do not know are left out."""
    found = dialog_diff("d1", "2026-11-29", "2026-11-30", {**COUNTS, "rows": [change({"a": 1}, {"a": None})]})
    answer = found.as_json()
    assert answer["changed"][0]["fields"] == [{"op": "replace", "path": "/a", "value": None}]
    assert (answer["added"], answer["removed"], answer["unchanged"], answer["warnings"]) == ([], [], 4, [])
    assert not found.truncated


def test_notes() -> None:
    """Equal payloads under different hashes, and texts that only look equal, are said; nothing else is."""
    assert EntityChange("note", "", "1", "changed", before={"a": 1.0}, after={"a": 1}).note == SAME_PAYLOAD
    assert "code points" in EntityChange("note", "", "1", "changed", before={"a": "й"}, after={"a": "и\u0306"}).note
    assert EntityChange("note", "", "1", "changed", before={"a": 1}, after={"a": 2}).note == ""
    assert EntityChange("note", "", "1", "added", after={"a": 2}).fields == ()


def test_all_dialogs() -> None:
    """Totals and one page of dialogs."""
    rows = [{"dialog_key": "d1", "added": 2, "ru_id": "r"}]
    found = days_diff({**COUNTS, "rows": rows, "total": 1, "dialogs": 3})
    assert (found.rows[0].added, found.rows[0].ru_id, found.dialogs, found.unchanged) == (2, "r", 3, 4)
