"""The calendar: missing is not zero, unknown is not missing, today is not over."""

from __future__ import annotations

from datetime import date

from core.snapshots.coverage import calendar_of, totals_of, window


def facts(entities: int, *, complete: bool = False, expected: bool = False) -> dict[str, object]:
    return {"entities": entities, "stored": entities, "complete": complete, "expected": expected}


def test_each_day_has_its_word() -> None:
    """A day is complete, partial, missing, due or unknown; only a known one has a number."""
    answer = {
        "total": 1,
        "rows": [
            {
                "dialog_key": "d1",
                "ru_id": "r",
                "tu_id": "t",
                "days": {
                    "2026-11-25": facts(3, complete=True),
                    "2026-11-26": facts(2, expected=True),
                    "2026-11-27": facts(0, expected=True),
                    "2026-11-30": facts(0, expected=True),
                },
            }
        ],
    }
    found = calendar_of(answer, date(2026, 11, 24), date(2026, 12, 1), date(2026, 11, 30))
    assert [(d.status, d.entities) for d in found.rows[0].days] == [
        ("unknown", None),
        ("complete", 3),
        ("partial", 2),
        ("missing", None),
        ("unknown", None),
        ("unknown", None),
        ("due", None),
        ("unknown", None),
    ]
    assert found.rows[0].missing == 1
    assert found.days[0] == "2026-11-24"


def test_days_without_anything_are_not_zero() -> None:
    """Case 25: every day of the window has its place, and what is not known is None."""
    row = {
        "sync_date": "2026-11-02",
        "entities": 5,
        "stored": 5,
        "dialogs": 1,
        "complete": 1,
        "partial": 0,
        "expected": 0,
        "missing": 0,
    }
    found = totals_of([row], date(2026, 11, 1), date(2026, 11, 3))
    assert [(d.day, d.entities) for d in found] == [("2026-11-01", None), ("2026-11-02", 5), ("2026-11-03", None)]


def test_window_turned_round_is_empty() -> None:
    """No days from a later day to an earlier one."""
    assert window(date(2026, 11, 2), date(2026, 11, 1)) == ()
